package lunar.target;

import static lunar.target.CopyFixture.assertGood;
import static lunar.target.CopyFixture.assertSense;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import lunar.block.Devices;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.copy.CopyOperationInformation;
import lunar.scsi.copy.CopyOperationInformation.State;
import lunar.scsi.copy.CopyOperationInformation.Tail;
import lunar.scsi.copy.PopulateToken;
import lunar.scsi.copy.PopulateTokenList;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.copy.RodToken;
import lunar.scsi.copy.WriteUsingToken;
import lunar.scsi.copy.WriteUsingTokenList;
import org.junit.jupiter.api.Test;

/** Tests ROD tokens over the wire, as Windows uses them. */
class TargetRodTokenTest {
    private static final long SEED = Long.getLong("lunar.seed", 20261121);

    private static RawInitiator.Received populate(CopyFixture copies, BlockRange... ranges)
            throws Exception {
        byte[] list = new PopulateTokenList(false, 0, OptionalLong.empty(), List.of(ranges))
                .bytes();
        return copies.out(new PopulateToken(1, list.length, 0), list);
    }

    private static CopyOperationInformation information(CopyFixture copies, long identifier)
            throws Exception {
        return CopyOperationInformation.decode(copies.in(new ReceiveCopyResults(
                ReceiveCopyResults.ROD_TOKEN_INFORMATION, identifier, 4096)), Tail.ROD_TOKEN);
    }

    /** The token of blocks of LUN 0. */
    private static Bytes token(CopyFixture copies, BlockRange... ranges) throws Exception {
        assertGood(populate(copies, ranges));
        return information(copies, 1).token().orElseThrow();
    }

    private static RawInitiator.Received write(CopyFixture copies, Bytes token, long offset,
            BlockRange... ranges) throws Exception {
        byte[] list = new WriteUsingTokenList(false, false, offset, token, List.of(ranges)).bytes();
        return copies.out(new WriteUsingToken(2, list.length, 0), list);
    }

    @Test
    void shouldWriteWhatTokenStandsFor() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"))) {
            byte[] before = copies.fill(0, SEED);
            byte[] expected = before.clone();
            Bytes token = token(copies, new BlockRange(10, 3000), new BlockRange(4, 5));
            var populated = information(copies, 1);
            assertThat(populated.state()).isEqualTo(State.SUCCEEDED);
            assertThat(populated.serviceAction()).isEqualTo(PopulateToken.SERVICE_ACTION);
            assertThat(populated.units()).isEqualTo(CopyOperationInformation.IN_BLOCKS);
            assertThat(populated.transferCount()).isEqualTo(3005);

            assertGood(write(copies, token, 2, new BlockRange(5000, 3), new BlockRange(4000, 1),
                    new BlockRange(5003, 2999)));

            System.arraycopy(before, 12 * 512, expected, 5000 * 512, 3 * 512);
            System.arraycopy(before, 15 * 512, expected, 4000 * 512, 512);
            System.arraycopy(before, 16 * 512, expected, 5003 * 512, 2994 * 512);
            System.arraycopy(before, 4 * 512, expected, (5003 + 2994) * 512, 5 * 512);
            assertThat(copies.content(0, 0, expected.length)).isEqualTo(expected);
            var written = information(copies, 2);
            assertThat(written.state()).isEqualTo(State.SUCCEEDED);
            assertThat(written.transferCount()).isEqualTo(3003);
            assertThat(written.token()).isEmpty();
        }
    }

    /** The example of SBC-4 section 5.59.2: the second large block begins at LBA 42. */
    @Test
    void shouldWriteTokenOfUnitWithSmallerBlocks() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB?block-size=4096"),
                Devices.open("ram:1MiB"))) {
            byte[] content = copies.fill(1, SEED);
            byte[] list = new PopulateTokenList(false, 0, OptionalLong.empty(),
                    List.of(new BlockRange(15, 6), new BlockRange(40, 61))).bytes();
            Lun source = Lun.of(1);
            RawInitiator initiator = copies.initiator;
            initiator.send(source, new byte[6], new byte[0], 0);
            assertThat(initiator.receive().status()).as("its unit attention")
                    .isEqualTo(Status.CHECK_CONDITION);
            initiator.send(source, new PopulateToken(1, list.length, 0).bytes(), list, 0);
            assertGood(initiator.receive());
            initiator.send(source, new ReceiveCopyResults(ReceiveCopyResults.ROD_TOKEN_INFORMATION,
                    1, 4096).bytes(), new byte[0], 4096);
            Bytes token = CopyOperationInformation
                    .decode(MemorySegment.ofArray(initiator.receive().data()), Tail.ROD_TOKEN)
                    .token().orElseThrow();

            assertGood(write(copies, token, 0, new BlockRange(3, 2)));
            byte[] expected = new byte[8192];
            System.arraycopy(content, 15 * 512, expected, 0, 6 * 512);
            System.arraycopy(content, 40 * 512, expected, 6 * 512, 10 * 512);
            assertThat(copies.content(0, 3 * 4096, 8192)).isEqualTo(expected);
            assertGood(write(copies, token, 1, new BlockRange(3, 1)));
            assertThat(copies.content(0, 3 * 4096, 4096))
                    .isEqualTo(Arrays.copyOfRange(content, 42 * 512, 50 * 512));
        }
    }

    @Test
    void shouldGatherSmallBlocksIntoLargeOnes() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB?block-size=4096"))) {
            byte[] content = copies.fill(0, SEED);
            Bytes token = token(copies, new BlockRange(7, 1), new BlockRange(3, 2));
            assertGood(write(copies, token, 1, new BlockRange(100, 2)));
            assertThat(copies.content(0, 100 * 4096, 8192))
                    .isEqualTo(Arrays.copyOfRange(content, 3 * 4096, 5 * 4096));
        }
    }

    @Test
    void shouldWriteZeroesWithoutEnd() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"))) {
            copies.fill(0, SEED);
            assertGood(write(copies, RodToken.zeroes(), 1L << 40, new BlockRange(0, 8192)));
            assertThat(copies.content(0, 0, 4 << 20)).isEqualTo(new byte[4 << 20]);
            assertThat(copies.devices.getFirst().extent(0).allocated()).isFalse();
        }
    }

    @Test
    void shouldRevokeTokenWhoseBlocksAreWritten() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            copies.fill(0, SEED);
            Bytes first = token(copies, new BlockRange(8, 8));
            Bytes second = token(copies, new BlockRange(16, 8));
            copies.initiator.write(15, new byte[512]);
            assertGood(copies.initiator.receive());

            byte[] before = copies.content(0, 51200, 4096);
            assertSense(write(copies, first, 0, new BlockRange(100, 8)), 0x05_23_06);
            assertThat(copies.content(0, 51200, 4096)).isEqualTo(before);
            assertThat(information(copies, 2).state()).isEqualTo(State.FAILED);
            assertThat(information(copies, 2).sense().at(12)).isEqualTo(0x23);
            assertGood(write(copies, second, 0, new BlockRange(8, 8)));
            assertSense(write(copies, second, 0, new BlockRange(23, 8)), 0x05_26_0c);
            assertGood(write(copies, RodToken.zeroes(), 0, new BlockRange(23, 1)));
            assertSense(write(copies, second, 0, new BlockRange(100, 8)), 0x05_23_06);
        }
    }

    @Test
    void shouldRejectTokensThatAreNotItsOwn() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            var to = new BlockRange(100, 1);
            Bytes token = token(copies, new BlockRange(0, 8));
            assertSense(write(copies, token.with(511, token.at(511) ^ 1), 0, to), 0x05_23_05);
            assertSense(write(copies, token.with(8, token.at(8) ^ 1), 0, to), 0x05_23_04);
            assertSense(write(copies, token.with(7, 0), 0, to), 0x05_23_0a);
            assertSense(write(copies, token.with(3, 0), 0, to), 0x05_23_01);
            assertSense(write(copies, token, 8, to), 0x05_26_00);
            assertSense(write(copies, token, -1, to), 0x05_26_00);
            assertSense(write(copies, token, 0, new BlockRange(2048, 1)), 0x05_21_00);
            assertSense(populate(copies, new BlockRange(2047, 2)), 0x05_21_00);
            assertGood(write(copies, token, 7, to));
        }
    }

    @Test
    void shouldReportWhenTokenIsTooShort() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            byte[] content = copies.fill(0, SEED);
            Bytes token = token(copies, new BlockRange(0, 8));
            RawInitiator.Received answer = write(copies, token, 6, new BlockRange(100, 8));
            assertSense(answer, 0x0a_0d_04);
            assertThat(answer.data()[2 + 6]).as("INFORMATION").isEqualTo((byte) 2);
            assertThat(copies.content(0, 51200, 1024))
                    .isEqualTo(Arrays.copyOfRange(content, 6 * 512, 8 * 512));
            assertThat(copies.content(0, 52224, 512))
                    .isEqualTo(Arrays.copyOfRange(content, 52224, 52224 + 512));
            assertThat(information(copies, 2).transferCount()).isEqualTo(2);
        }
    }

    @Test
    void shouldDeleteTokenAfterItsLastUse() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            Bytes token = token(copies, new BlockRange(0, 8));
            byte[] list = new WriteUsingTokenList(false, true, 0, token,
                    List.of(new BlockRange(100, 8))).bytes();
            assertGood(copies.out(new WriteUsingToken(2, list.length, 0), list));
            assertSense(copies.out(new WriteUsingToken(2, list.length, 0), list), 0x05_23_09);
        }
    }

    @Test
    void shouldWriteInTheBackground() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            byte[] content = copies.fill(0, SEED);
            Bytes token = token(copies, new BlockRange(0, 8));
            byte[] list = new WriteUsingTokenList(true, false, 0, token,
                    List.of(new BlockRange(100, 8))).bytes();
            assertGood(copies.out(new WriteUsingToken(2, list.length, 0), list));
            while (information(copies, 2).state() == State.IN_BACKGROUND) {
                Thread.onSpinWait();
            }
            assertThat(information(copies, 2).state()).isEqualTo(State.SUCCEEDED);
            assertThat(copies.content(0, 51200, 4096)).isEqualTo(Arrays.copyOf(content, 4096));
        }
    }

    @Test
    void shouldRejectTimesAndTypesThatItDoesNotPromise() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            var ranges = List.of(new BlockRange(0, 8));
            byte[] tooLong = new PopulateTokenList(false, 601, OptionalLong.empty(), ranges)
                    .bytes();
            assertSense(copies.out(new PopulateToken(1, tooLong.length, 0), tooLong), 0x05_26_00);
            byte[] persistent = new PopulateTokenList(false, 0, OptionalLong.of(0x0080_0002L),
                    ranges).bytes();
            assertSense(copies.out(new PopulateToken(1, persistent.length, 0), persistent),
                    0x05_26_00);
            byte[] vulnerable = new PopulateTokenList(false, 600,
                    OptionalLong.of(RodToken.CHANGE_VULNERABLE), ranges).bytes();
            assertGood(copies.out(new PopulateToken(1, vulnerable.length, 0), vulnerable));
        }
    }

    @Test
    void shouldSurviveHostileLists() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            var random = new Random(SEED);
            Bytes token = token(copies, new BlockRange(0, 8));
            byte[] populate = new PopulateTokenList(false, 0, OptionalLong.empty(),
                    List.of(new BlockRange(0, 8), new BlockRange(8, 8))).bytes();
            byte[] write = new WriteUsingTokenList(false, false, 0, token,
                    List.of(new BlockRange(100, 4), new BlockRange(200, 4))).bytes();
            for (int i = 0; i < 2000; i++) {
                boolean writes = random.nextBoolean();
                byte[] sane = writes ? write : populate;
                byte[] list = Arrays.copyOf(sane, 1 + random.nextInt(sane.length + 40));
                for (int flips = random.nextInt(5); flips > 0; flips--) {
                    list[random.nextInt(list.length)] = (byte) random.nextInt();
                }
                RawInitiator.Received answer = copies.out(writes
                        ? new WriteUsingToken(2, list.length, 0)
                        : new PopulateToken(1, list.length, 0), list);
                assertThat(answer.status()).as("seed %d, %d", SEED, i).isIn(Status.GOOD,
                        Status.CHECK_CONDITION);
                if (answer.status() == Status.CHECK_CONDITION) {
                    assertThat(answer.sense() >> 16).as("seed %d, %d: %06x", SEED, i,
                            answer.sense()).isIn(0x05, 0x0a);
                }
            }
        }
    }
}
