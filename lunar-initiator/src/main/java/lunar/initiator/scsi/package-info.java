/**
 * SCSI for applications: a call for every command that Lunar's own target supports, with records for parameters and
 * results, and pass-through for any other command.
 *
 * {@snippet :
 * ScsiUnit unit = ScsiUnit.of(disk);                                 // a LunDevice
 * BlockLimits limits = unit.inquiry().find(BlockLimits.CODE, BlockLimits.class).orElseThrow();
 * unit.blocks().unmap(List.of(new Range(0, 2048), new Range(8192, 2048)), false);
 * unit.reservations().register(0xbeef);
 * unit.reservations().reserve(0xbeef, ReservationType.WRITE_EXCLUSIVE);
 * unit.copies().offload(other, new Copies.Segment(0, 0, disk.blockCount()), System.out::println);
 * try {
 *     unit.modes().change(CachingModePage.CODE, 0, page -> wanted(page), true);
 * } catch (InvalidRequestException e) {
 *     System.err.println(SenseException.of(e).flatMap(Sense::fieldPointer)); // which bit was refused
 * }
 * }
 *
 * <p>Calls block, and are allowed on any thread except an event loop's, including virtual threads. Section numbers
 * refer to SPC-5 (T10/BSR INCITS 502) and SBC-4 (T10/BSR INCITS 506), unless an older standard is named.
 */
@NullMarked
package lunar.initiator.scsi;

import org.jspecify.annotations.NullMarked;
