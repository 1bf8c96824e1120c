package lunar.target;

import static lunar.target.CopyFixture.assertGood;
import static lunar.target.CopyFixture.assertSense;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.Extent;
import lunar.block.ForwardingDevice;
import lunar.block.StorageException;
import lunar.iscsi.pdu.DataIn;
import lunar.scsi.Bytes;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.copy.CopyOperationInformation;
import lunar.scsi.copy.CopyOperationInformation.Tail;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.copy.PopulateTokenList;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.copy.WriteUsingToken;
import lunar.scsi.copy.WriteUsingTokenList;
import lunar.scsi.reservation.Reserve;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that changes made while a copy queries its source for holes are detected before holes become zeroes of the
 * destination.
 */
@Timeout(600)
class CopyOfHolesTest {
    /** 2 MiB, the source; as many follow for the destination. */
    private static final int BLOCKS = 4096;
    /** WRITE SAME of the source with UNMAP and NDOB. */
    private static final String UNMAP_SOURCE = "93 09 0000000000000000 00001000 00 00";

    /** Memory whose holes are not told until it is opened. */
    private static final class HeldExtents extends ForwardingDevice {
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch opened = new CountDownLatch(1);

        HeldExtents(String uri) throws StorageException { super(Devices.open(uri)); }

        void awaitQuestion() throws InterruptedException {
            assertThat(asked.await(120, TimeUnit.SECONDS)).as("asked for holes").isTrue();
        }

        void open() { opened.countDown(); }

        @Override
        public Extent extent(long lba) throws StorageException {
            asked.countDown();
            try {
                opened.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return below().extent(lba);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }
    }

    private static Bytes token(CopyFixture copies) throws Exception {
        byte[] list = new PopulateTokenList(false, 0, OptionalLong.empty(),
                List.of(new BlockRange(0, BLOCKS))).bytes();
        assertGood(copies.out(new PopulateToken(1, list.length, 0), list));
        RawInitiator.Received answer = copies.initiator.command(new ReceiveCopyResults(
                ReceiveCopyResults.ROD_TOKEN_INFORMATION, 1, 4096).bytes(), 4096);
        assertThat(answer.opcode()).isEqualTo(DataIn.OPCODE);
        return CopyOperationInformation.decode(
                MemorySegment.ofArray(answer.data()), Tail.ROD_TOKEN).token()
                .orElseThrow();
    }

    @Test
    void shouldWriteNothingForATokenRevokedWhileHolesAreQueried() throws Exception {
        try (var source = new HeldExtents("ram:4MiB");
                var copies = new CopyFixture(source);
                var other = RawInitiator.ready(copies.server, 2)) {
            copies.write(0, 0, blocks(2 * BLOCKS, 7));
            Bytes token = token(copies);
            byte[] list = new WriteUsingTokenList(false, false, 0, token,
                    List.of(new BlockRange(BLOCKS, BLOCKS))).bytes();
            copies.send(new WriteUsingToken(2, list.length, 0), list);
            source.awaitQuestion();
            assertGood(other.command(UNMAP_SOURCE, 0));
            source.open();
            assertSense(copies.initiator.receive(), 0x05_23_06); // TOKEN REVOKED
            assertThat(copies.content(0, BLOCKS * 512L, BLOCKS * 512))
                    .isEqualTo(blocks(BLOCKS, 7));
        }
    }

    /** Forwards, and backwards where the destination overlaps the source from behind. */
    @Test
    void shouldRespectAReservationMadeWhileHolesAreQueried() throws Exception {
        for (int destination : List.of(BLOCKS, BLOCKS / 2)) {
            try (var source = new HeldExtents("ram:4MiB");
                    var copies = new CopyFixture(source);
                    var other = RawInitiator.ready(copies.server, 2)) {
                copies.write(0, BLOCKS * 512L, blocks(BLOCKS, 7));
                byte[] list = CopyFixture.list(3, 0, List.of(copies.cscd(0)),
                        new BlockCopySegment(false, false, 0, 0, BLOCKS, 0, destination)).bytes();
                copies.send(new ExtendedCopy(false, list.length), list);
                source.awaitQuestion();
                other.send(Lun.ZERO, new Reserve(CdbForm.CDB6).bytes(), new byte[0], 0);
                assertGood(other.receive());
                source.open();
                assertThat(copies.initiator.receive().status())
                        .isEqualTo(Status.RESERVATION_CONFLICT);
                assertThat(copies.content(0, BLOCKS * 512L, BLOCKS * 512))
                        .isEqualTo(blocks(BLOCKS, 7));
            }
        }
    }
}
