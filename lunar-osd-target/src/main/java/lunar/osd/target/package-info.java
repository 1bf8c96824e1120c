/**
 * Object-based storage devices (OSD-2, and OSD-1 as far as its initiators need it) as a device type of {@code
 * lunar.scsi.target}. {@link lunar.osd.target.OsdSpec} describes a logical unit that serves an object store; it goes
 * where the specs of disks go:
 *
 * <pre>{@code
 * TargetSpec.of("iqn.2026-11.org.example:objects").withLun(0, OsdSpec.of(store));
 * }</pre>
 *
 * <p>By default the device has no security: its only method is NOSEC, and capabilities are not looked at. With {@link
 * lunar.osd.target.OsdSecurity} a command needs a capability, and proof that its sender has the key of it.
 *
 * <p>Threading: commands run on virtual threads of their own, several at a time; the store orders them.
 */
@NullMarked
package lunar.osd.target;

import org.jspecify.annotations.NullMarked;
