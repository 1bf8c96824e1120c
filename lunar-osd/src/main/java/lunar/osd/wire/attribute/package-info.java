/**
 * Attributes: their identifiers and values, the parameters by which a CDB gets and sets them, the lists and pages that
 * travel in data-out and data-in. Field pointers of InvalidParameterListException count from the start of the list.
 */
@NullMarked
package lunar.osd.wire.attribute;

import org.jspecify.annotations.NullMarked;
