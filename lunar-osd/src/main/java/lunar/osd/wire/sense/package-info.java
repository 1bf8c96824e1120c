/**
 * The sense data descriptors of OSD, beside those that {@link lunar.scsi.Sense} has fields for. Sense data of an OSD
 * are always in descriptor format.
 *
 * <pre>{@code
 * Sense sense = Sense.invalidFieldInCdb(24)                                      // the target
 *         .withDescriptor(ObjectIdentification.of(object).descriptor());
 *
 * Optional<ObjectIdentification> error = ObjectIdentification.of(sense);         // the client
 * }</pre>
 */
@NullMarked
package lunar.osd.wire.sense;

import org.jspecify.annotations.NullMarked;
