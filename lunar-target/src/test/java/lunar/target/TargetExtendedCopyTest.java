package lunar.target;

import static lunar.target.CopyFixture.assertGood;
import static lunar.target.CopyFixture.assertSense;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import lunar.block.Devices;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.CdbForm;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.scsi.copy.BlockCopySegment;
import lunar.scsi.copy.CopyOperatingParameters;
import lunar.scsi.copy.CopyOperationAbort;
import lunar.scsi.copy.CopyOperationInformation;
import lunar.scsi.copy.CopyParameterList;
import lunar.scsi.copy.CscdDescriptor;
import lunar.scsi.copy.ExtendedCopy;
import lunar.scsi.copy.FailedSegmentDetails;
import lunar.scsi.copy.ReceiveCopyResults;
import lunar.scsi.copy.ShortCopyStatus;
import lunar.scsi.reservation.Release;
import lunar.scsi.reservation.Reserve;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.vpd.Naa;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.ThirdPartyCopy;
import lunar.scsi.vpd.VpdPage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests EXTENDED COPY over the wire, and the operating parameters that it reports. */
class TargetExtendedCopyTest {
    private static final long SEED = Long.getLong("lunar.seed", 20261121);

    private static BlockCopySegment segment(int source, int destination, int blocks, long from,
            long to) {
        return new BlockCopySegment(false, false, source, destination, blocks, from, to);
    }

    /** Blocks of 512 bytes, on a device of 4 MiB: a copy in several pieces, that overlaps or not. */
    @ParameterizedTest
    @CsvSource({"0, 4096, 4096", "100, 101, 5000", "101, 100, 5000", "0, 3000, 4097",
            "3000, 0, 4097", "7, 7, 9", "8191, 0, 1"})
    void shouldCopyWithinUnit(int from, int to, int blocks) throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"))) {
            byte[] expected = copies.fill(0, SEED);

            assertGood(copies.copy(List.of(copies.cscd(0)), segment(0, 0, blocks, from, to)));

            System.arraycopy(expected, from * 512, expected, to * 512, blocks * 512);
            assertThat(copies.content(0, 0, expected.length)).isEqualTo(expected);
        }
    }

    @Test
    void shouldCopyBetweenUnitsOfOtherBlockSizes() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"), Devices.open("ram:1MiB"),
                Devices.open("ram:1MiB?block-size=4096"))) {
            byte[] small = copies.fill(1, SEED);
            byte[] large = copies.fill(2, SEED + 1);
            List<CscdDescriptor> cscds = List.of(copies.cscd(1), copies.cscd(2));

            assertGood(copies.copy(cscds, segment(0, 1, 16, 3, 10)));
            assertThat(copies.content(2, 40960, 8192))
                    .isEqualTo(Arrays.copyOfRange(small, 3 * 512, 3 * 512 + 8192));
            assertGood(copies.copy(cscds, new BlockCopySegment(true, false, 1, 0, 8, 5, 100)));
            assertThat(copies.content(1, 51200, 4096))
                    .isEqualTo(Arrays.copyOfRange(large, 5 * 4096, 6 * 4096));
            assertSense(copies.copy(cscds, segment(0, 1, 15, 3, 10)), 0x0a_26_0a);
        }
    }

    @Test
    void shouldKeepHoles() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:16MiB"), Devices.open("ram:16MiB"))) {
            copies.fill(1, SEED);
            byte[] block = new byte[512];
            Arrays.fill(block, (byte) 7);
            copies.write(0, 4 << 20, block);

            assertGood(copies.copy(List.of(copies.cscd(0), copies.cscd(1)),
                    segment(0, 1, 32768, 0, 0)));

            byte[] expected = new byte[16 << 20];
            System.arraycopy(block, 0, expected, 4 << 20, 512);
            assertThat(copies.content(1, 0, 16 << 20)).isEqualTo(expected);
            assertThat(copies.devices.get(1).extent(0).allocated()).isFalse();
        }
    }

    @Test
    void shouldUseTheUnitThatReceivedTheCommandAsSource() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"), Devices.open("ram:1MiB"))) {
            byte[] content = copies.fill(0, SEED);
            assertGood(copies.copy(List.of(copies.cscd(1)),
                    segment(CscdDescriptor.THIS_UNIT, 0, 100, 1, 2)));
            assertThat(copies.content(1, 1024, 51200))
                    .isEqualTo(Arrays.copyOfRange(content, 512, 512 + 51200));
        }
    }

    @Test
    void shouldReportWhichSegmentFailed() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            RawInitiator.Received answer = copies.copy(9, CopyParameterList.HOLD,
                    List.of(copies.cscd(0)), segment(0, 0, 8, 0, 100), segment(0, 0, 8, 0, 2041));
            assertSense(answer, 0x0a_00_00);
            assertThat(answer.data()[2 + 11]).as("segment number").isEqualTo((byte) 1);
            assertThat(answer.data()[2 + 15] & 0xff).as("SKSV, SD").isEqualTo(0xa0);
            assertThat(answer.data()[2 + 17]).as("destination LBA").isEqualTo((byte) 20);

            var status = ShortCopyStatus.decode(copies.in(
                    new ReceiveCopyResults(ReceiveCopyResults.COPY_STATUS_LID1, 9, 100)));
            assertThat(status).isEqualTo(
                    new ShortCopyStatus(ShortCopyStatus.State.FAILED, 1, 4096));
            var details = FailedSegmentDetails.decode(copies.in(
                    new ReceiveCopyResults(ReceiveCopyResults.FAILED_SEGMENT_DETAILS, 9, 100)));
            assertThat(details.status()).isEqualTo(Status.CHECK_CONDITION.code());
            assertThat(details.sense().at(2)).isEqualTo(0x0a);
        }
    }

    @Test
    void shouldRejectImpossibleCopies() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"), Devices.open("ram:1MiB"))) {
            CscdDescriptor known = copies.cscd(0);
            var stranger = CscdDescriptor
                    .disk(Designator.ofUnit(Naa.locallyAssigned(new java.util.UUID(1, 2))), 512);
            var other = CscdDescriptor.disk(known.designator(), 4096);
            assertSense(copies.copy(List.of(known, stranger), segment(0, 1, 8, 0, 8)), 0x0a_08_04);
            assertSense(copies.copy(List.of(known, CscdDescriptor.NOTHING), segment(0, 1, 8, 0, 8)),
                    0x0a_08_04);
            assertSense(copies.copy(List.of(known), segment(0, 1, 8, 0, 8)), 0x0a_08_04);
            assertSense(copies.copy(List.of(other), segment(0, 0, 8, 0, 8)), 0x0a_0d_03);
            assertSense(copies.copy(List.of(known), segment(0, 0, 8, -1, 8)), 0x0a_00_00);
            assertGood(copies.copy(List.of(known), segment(0, 0, 0, 0, 8)));
            assertGood(copies.out(new ExtendedCopy(false, 0), new byte[0]));
            assertSense(copies.out(new ExtendedCopy(false, 0x7fff_ffff), new byte[100]),
                    0x05_0e_03);
        }
    }

    @Test
    void shouldNotWriteUnitThatAnotherNexusHasReserved() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"), Devices.open("ram:1MiB"));
                var other = RawInitiator.ready(copies.server, 2)) {
            copies.fill(0, SEED);
            Lun reserved = Lun.of(1);
            other.send(reserved, new byte[6], new byte[0], 0);
            assertThat(other.receive().status()).as("its unit attention")
                    .isEqualTo(Status.CHECK_CONDITION);
            other.send(reserved, new Reserve(CdbForm.CDB6).bytes(), new byte[0], 0);
            assertGood(other.receive());
            List<CscdDescriptor> cscds = List.of(copies.cscd(0), copies.cscd(1));

            assertThat(copies.copy(cscds, segment(0, 1, 8, 0, 0)).status())
                    .isEqualTo(Status.RESERVATION_CONFLICT);
            assertThat(copies.content(1, 0, 4096)).isEqualTo(new byte[4096]);
            other.send(reserved, new Release(CdbForm.CDB6).bytes(), new byte[0], 0);
            assertGood(other.receive());
            assertGood(copies.copy(cscds, segment(0, 1, 8, 0, 0)));
        }
    }

    @Test
    void shouldNotWriteUnitForReadingOnly() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"), Devices.open("ram:1MiB"))) {
            Lun guarded = Lun.of(1);
            copies.initiator.send(guarded, new byte[6], new byte[0], 0);
            assertThat(copies.initiator.receive().status()).isEqualTo(Status.CHECK_CONDITION);
            copies.initiator.send(guarded, new byte[]{0x1a, 8, 0x0a, 0, 16, 0}, new byte[0], 16);
            byte[] swp = copies.initiator.receive().data(); // the Control mode page
            swp[0] = 0;
            swp[4] &= 0x3f;
            swp[8] |= 8;
            copies.initiator.send(guarded, new byte[]{0x15, 0x10, 0, 0, 16, 0}, swp, 0);
            assertGood(copies.initiator.receive());
            assertSense(copies.copy(List.of(copies.cscd(0), copies.cscd(1)),
                    segment(0, 1, 8, 0, 0)), 0x0a_27_00);
            assertGood(copies.copy(List.of(copies.cscd(0), copies.cscd(1)),
                    segment(1, 0, 8, 0, 0)));
        }
    }

    @Test
    void shouldReportOutcomeByListIdentifierAndToItsNexusOnly() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"));
                var other = RawInitiator.ready(copies.server, 2)) {
            var ask = new ReceiveCopyResults(ReceiveCopyResults.COPY_STATUS_LID1, 5, 12);
            assertSense(copies.initiator.command(ask.bytes(), 12), 0x05_24_00);
            assertGood(copies.copy(5, CopyParameterList.HOLD, List.of(copies.cscd(0)),
                    segment(0, 0, 8, 0, 8), segment(0, 0, 8, 0, 16)));

            assertThat(ShortCopyStatus.decode(copies.in(ask))).isEqualTo(
                    new ShortCopyStatus(ShortCopyStatus.State.SUCCEEDED, 2, 8192));
            var long4 = CopyOperationInformation.decode(copies.in(
                    new ReceiveCopyResults(ReceiveCopyResults.COPY_STATUS_LID4, 5, 100)),
                    CopyOperationInformation.Tail.NOTHING);
            assertThat(long4.state()).isEqualTo(CopyOperationInformation.State.SUCCEEDED);
            assertThat(long4.transferCount()).isEqualTo(8192);
            assertSense(other.command(ask.bytes(), 12), 0x05_24_00);
        }
    }

    @Test
    void shouldContinueInTheBackground() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"), new HeldDevice("ram:1MiB"))) {
            var held = (HeldDevice) copies.devices.get(1);
            byte[] content = copies.fill(0, SEED);
            byte[] list = new CopyParameterList(true, 77, CopyParameterList.HOLD, 0, false, false,
                    true, List.of(copies.cscd(0), copies.cscd(1)),
                    List.of(segment(0, 1, 100, 0, 0))).bytes();
            var copy = new ExtendedCopy(true, list.length);
            var ask = new ReceiveCopyResults(ReceiveCopyResults.COPY_STATUS_LID4, 77, 100);

            assertGood(copies.out(copy, list));
            held.awaitArrival();
            assertThat(CopyOperationInformation
                    .decode(copies.in(ask), CopyOperationInformation.Tail.NOTHING).state())
                    .isEqualTo(CopyOperationInformation.State.IN_BACKGROUND);
            assertSense(copies.out(copy, list), 0x05_00_16);
            held.pass(1000);
            CopyOperationInformation.State state;
            do {
                state = CopyOperationInformation.decode(copies.in(ask),
                        CopyOperationInformation.Tail.NOTHING).state();
            } while (state == CopyOperationInformation.State.IN_BACKGROUND);
            assertThat(state).isEqualTo(CopyOperationInformation.State.SUCCEEDED);
            assertThat(copies.content(1, 0, 51200)).isEqualTo(Arrays.copyOf(content, 51200));
        }
    }

    @Test
    void shouldRejectACopyInTheBackgroundThatHasNoName() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            byte[] list = new CopyParameterList(true, 0, CopyParameterList.NO_IDENTIFIER, 0, false,
                    false, true, List.of(copies.cscd(0)), List.of(segment(0, 0, 8, 0, 8))).bytes();
            assertSense(copies.out(new ExtendedCopy(true, list.length), list), 0x05_26_00);
        }
    }

    /** Background copies end by a reset or a lost nexus; both wait for the last piece. */
    @ParameterizedTest
    @CsvSource({"LOGICAL_UNIT_RESET, false", "LOGICAL_UNIT_RESET, true", "I_T_NEXUS_RESET, false"})
    void shouldStopCopyInTheBackground(TaskManagementFunction by, boolean another)
            throws Exception {
        CopyFixture.inTime(() -> stopCopyInTheBackground(by, another));
    }

    private static void stopCopyInTheBackground(TaskManagementFunction by, boolean another)
            throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"), new HeldDevice("ram:4MiB"));
                var other = RawInitiator.ready(copies.server, 2)) {
            var held = (HeldDevice) copies.devices.get(1);
            copies.fill(0, SEED);
            byte[] list = new CopyParameterList(true, 77, CopyParameterList.HOLD, 0, false, false,
                    true, List.of(copies.cscd(0), copies.cscd(1)),
                    List.of(segment(0, 1, 8192, 0, 0))).bytes();
            assertGood(copies.out(new ExtendedCopy(true, list.length), list));
            held.awaitArrival(); // its first piece

            RawInitiator sender = another ? other : copies.initiator;
            int tag = sender.manage(by, -1);
            sender.assertSilent();
            held.pass(1);
            assertThat(sender.managed(tag)).isZero();

            held.pass(1000);
            assertThat(copies.content(1, 1 << 20, 1 << 20)).as("the second piece")
                    .isEqualTo(new byte[1 << 20]);
            copies.initiator.takeAttentions();
            assertThat(CopyOperationInformation.decode(copies.in(
                    new ReceiveCopyResults(ReceiveCopyResults.COPY_STATUS_LID4, 77, 100)),
                    CopyOperationInformation.Tail.NOTHING).state())
                    .isEqualTo(CopyOperationInformation.State.TERMINATED);
        }
    }

    @Test
    void shouldStopCopyThatIsAborted() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:4MiB"), new HeldDevice("ram:4MiB"))) {
            var held = (HeldDevice) copies.devices.get(1);
            copies.fill(0, SEED);
            byte[] list = CopyFixture.list(3, CopyParameterList.HOLD,
                    List.of(copies.cscd(0), copies.cscd(1)), segment(0, 1, 8192, 0, 0)).bytes();
            int copy = copies.send(new ExtendedCopy(false, list.length), list);
            held.awaitArrival(); // its first piece
            int abort = copies.initiator.send(new CopyOperationAbort(3).bytes(), 0);
            copies.initiator.assertSilent();
            held.pass(1);

            for (int i = 0; i < 2; i++) { // they may come in any order
                RawInitiator.Received answer = copies.initiator.receive();
                assertThat(answer.opcode()).isEqualTo(ScsiResponse.OPCODE);
                if (answer.bhs().itt() == copy) {
                    assertSense(answer, 0x0a_00_00);
                } else {
                    assertThat(answer.bhs().itt()).isEqualTo(abort);
                    assertGood(answer);
                }
            }
            held.pass(1000);
            assertThat(copies.content(1, 1 << 20, 1 << 20)).as("the second piece")
                    .isEqualTo(new byte[1 << 20]);
            var information = CopyOperationInformation.decode(copies.in(
                    new ReceiveCopyResults(ReceiveCopyResults.COPY_STATUS_LID4, 3, 100)),
                    CopyOperationInformation.Tail.NOTHING);
            assertThat(information.state())
                    .isEqualTo(CopyOperationInformation.State.TERMINATED);
            assertThat(information.transferCount()).isEqualTo(1 << 20);
            assertSense(copies.initiator.command(new CopyOperationAbort(4).bytes(), 0),
                    0x05_24_00);
        }
    }

    @Test
    void shouldReportItsLimits() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            assertThat(StandardInquiry.decode(copies.in(new Inquiry(false, 0, 96)))
                    .thirdPartyCopy()).isTrue();
            var page = (ThirdPartyCopy) VpdPage
                    .decode(copies.in(new Inquiry(true, ThirdPartyCopy.CODE, 4096)));
            assertThat(page.descriptors()).extracting(ThirdPartyCopy.Descriptor::type)
                    .containsExactly(0x0000, 0x0001, 0x0004, 0x0008, 0x000c, 0x0106, 0x0108,
                            0x8001);
            var parameters = CopyOperatingParameters.decode(copies.in(
                    new ReceiveCopyResults(ReceiveCopyResults.OPERATING_PARAMETERS, 0, 1000)));
            assertThat(parameters.descriptorTypes()).containsExactly(0x02, 0xe4);
            assertThat(parameters.maxSegmentBytes()).as("VMware copies 4 MiB at once")
                    .isGreaterThanOrEqualTo(4 << 20);
        }
    }

    @Test
    void shouldSurviveHostileLists() throws Exception {
        try (var copies = new CopyFixture(Devices.open("ram:1MiB"))) {
            var random = new Random(SEED);
            byte[] sane = CopyFixture.list(1, CopyParameterList.HOLD, List.of(copies.cscd(0)),
                    segment(0, 0, 8, 0, 100)).bytes();
            int refused = 0;
            for (int i = 0; i < 3000; i++) {
                byte[] list = Arrays.copyOf(sane, 1 + random.nextInt(sane.length + 40));
                for (int flips = random.nextInt(5); flips > 0; flips--) {
                    list[random.nextInt(list.length)] = (byte) random.nextInt();
                }
                RawInitiator.Received answer = copies
                        .out(new ExtendedCopy(random.nextInt(4) == 0, list.length), list);
                assertThat(answer.status()).as("seed %d, %d", SEED, i).isIn(Status.GOOD,
                        Status.CHECK_CONDITION);
                if (answer.status() == Status.CHECK_CONDITION) {
                    assertThat(answer.sense() >> 16).as("seed %d, %d: %06x", SEED, i,
                            answer.sense()).isIn(0x05, 0x0a);
                    refused++;
                }
            }
            assertThat(refused).isGreaterThan(1000);
        }
    }
}
