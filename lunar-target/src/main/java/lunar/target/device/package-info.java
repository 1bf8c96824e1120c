/**
 * SCSI devices behind the target: logical units, their device servers, and what these keep (SAM-5 section 4.6). Knows
 * nothing of connections and PDUs: commands come as {@link lunar.target.device.ScsiTask}s, initiators as
 * {@link lunar.target.device.Nexus}es.
 *
 * <p>A family of commands is a class that registers them in the {@link lunar.target.device.CommandSet}.
 */
@NullMarked
package lunar.target.device;

import org.jspecify.annotations.NullMarked;
