package lunar.scsi.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Golden;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.ParameterData;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific.SegmentPointer;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.copy.CopyOperationInformation.State;
import lunar.scsi.copy.CopyOperationInformation.Tail;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.Naa;
import lunar.scsi.vpd.ThirdPartyCopy;
import lunar.scsi.vpd.VpdPage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests parameter lists and parameter data of copies, byte by byte according to SPC-5 and SBC-4, both ways. */
class CopyDataTest {
    private static final long SEED = Long.getLong("lunar.seed", 20261121);

    /** An identification descriptor with an NAA designator of a disk with blocks of 512 bytes. */
    private static final String CSCD = "e4000000 01030008 3123456789abcdef 000000000000000000000000"
            + "00000200";
    private static final String SEGMENT = "02020018 00000001 00000800 0000000000000010"
            + "0000000000000020";
    private static final CscdDescriptor DISK = CscdDescriptor
            .disk(Designator.ofUnit(new Naa(Bytes.ofHex("3123456789abcdef"))), 512);
    private static final BlockCopySegment BLOCKS = new BlockCopySegment(true, false, 0, 1, 0x800,
            0x10, 0x20);
    private static final CopyParameterList.Limits LIMITS = new CopyParameterList.Limits(2, 2, 128);

    private static Bytes bytes(ParameterData data) { return Bytes.of(data.bytes()); }

    @Test
    void shouldReadAndWriteShortListOfExtendedCopy() throws Exception {
        String hex = "07130040 00000000 0000001c 00000000" + CSCD + CSCD + SEGMENT;
        var list = new CopyParameterList(false, 7, CopyParameterList.DISCARD, 3, false, false,
                false, List.of(DISK, DISK), List.of(BLOCKS));

        assertThat(bytes(list)).isEqualTo(Bytes.ofHex(hex));
        assertThat(CopyParameterList.decode(Golden.bytes(hex), false, LIMITS)).isEqualTo(list);
        assertThat(list.segmentAt(0)).isEqualTo(80);
    }

    @Test
    void shouldReadAndWriteLongListOfExtendedCopy() throws Exception {
        String hex = "01200020 00000000 00000000 00000001 ff000000 01020304" + "00".repeat(18)
                + "0020 001c 0000" + CSCD + SEGMENT;
        var list = new CopyParameterList(true, 0x01020304, CopyParameterList.HOLD, 0, true, false,
                true, List.of(DISK), List.of(BLOCKS));

        assertThat(bytes(list)).isEqualTo(Bytes.ofHex(hex));
        assertThat(CopyParameterList.decode(Golden.bytes(hex), true, LIMITS)).isEqualTo(list);
    }

    @Test
    void shouldIgnoreLuIdTypeAsSpc4HasIt() throws Exception {
        byte[] list = Bytes.ofHex("00000020 00000000 0000001c 00000000" + CSCD + SEGMENT).toArray();
        var plain = CopyParameterList.decode(MemorySegment.ofArray(list), false, LIMITS);
        list[17] = (byte) 0xc0;
        assertThat(CopyParameterList.decode(MemorySegment.ofArray(list), false, LIMITS))
                .isEqualTo(plain);
    }

    /** A list in the short form of which some bytes are replaced, and the sense data for it. */
    @ParameterizedTest
    @CsvSource({"0, 01, 26/00/-1", "1, 0b, 26/00/1", "2, 0021, 26/00/2",
            "2, 0060, 1a/00/-1", "8, 0000001d, 1a/00/-1", "8, 7fffffff, 1a/00/-1",
            "8, 0000001b, 26/00/80", "12, 00000001, 1a/00/-1", "16, e0, 26/07/16",
            "17, 01, 26/00/17", "23, 15, 26/00/23", "48, e5, 26/07/48",
            "80, 03, 26/09/80", "82, 0014, 26/00/82"})
    void shouldPointAtWhatIsWrongInListOfExtendedCopy(int at, String replacement, String sense) {
        byte[] list = Bytes.ofHex("00000040 00000000 0000001c 00000000" + CSCD + CSCD + SEGMENT)
                .toArray();
        byte[] other = Bytes.ofHex(replacement).toArray();
        System.arraycopy(other, 0, list, at, other.length);
        if (sense.equals("26/00/-1")) { // an identifier where none is used
            list[1] = 0x18;
        }

        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> CopyParameterList.decode(MemorySegment.ofArray(list), false,
                        LIMITS))
                .satisfies(e -> assertThat(e.sense().additional().asc() << 8
                        | e.sense().additional().ascq())
                        .isEqualTo(Integer.parseInt(sense.substring(0, 5).replace("/", ""), 16)))
                .satisfies(e -> {
                    int pointer = Integer.parseInt(sense.substring(6));
                    if (pointer >= 0) {
                        assertThat(e.sense().fieldPointer().orElseThrow().byteAt())
                                .isEqualTo(pointer);
                    }
                });
    }

    @Test
    void shouldNotLookAtTheRestOfDescriptorOfNothing() throws Exception {
        String hex = "07000020 00000000 0000001c 00000000 e43f" + "ff".repeat(30) + SEGMENT;
        assertThat(CopyParameterList.decode(Golden.bytes(hex), false, LIMITS).cscds())
                .containsExactly(CscdDescriptor.NOTHING);
    }

    @Test
    void shouldCountDescriptors() {
        String three = "00000060 00000000 0000001c 00000000" + CSCD.repeat(3) + SEGMENT;
        var limits = new CopyParameterList.Limits(2, 2, 1000);
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> CopyParameterList.decode(Golden.bytes(three), false, limits))
                .satisfies(e -> assertThat(e.sense().additional())
                        .isEqualTo(AdditionalSense.TOO_MANY_TARGET_DESCRIPTORS));
        String segments = "00000020 00000000 00000054 00000000" + CSCD + SEGMENT.repeat(3);
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> CopyParameterList.decode(Golden.bytes(segments), false, limits))
                .satisfies(e -> assertThat(e.sense().additional())
                        .isEqualTo(AdditionalSense.TOO_MANY_SEGMENT_DESCRIPTORS));
    }

    @Test
    void shouldThrowNothingButInvalidParameterListForRandomLists() {
        var random = new Random(SEED);
        byte[] sane = Bytes.ofHex("00000040 00000000 0000001c 00000000" + CSCD + CSCD + SEGMENT)
                .toArray();
        int refused = 0;
        for (int i = 0; i < 100_000; i++) {
            byte[] list = java.util.Arrays.copyOf(sane, random.nextInt(sane.length + 20));
            for (int flips = random.nextInt(6); flips > 0 && list.length > 0; flips--) {
                list[random.nextInt(list.length)] = (byte) random.nextInt();
            }
            var bytes = MemorySegment.ofArray(list);
            try {
                switch (i % 4) {
                    case 0 -> CopyParameterList.decode(bytes, false, LIMITS);
                    case 1 -> CopyParameterList.decode(bytes, true, LIMITS);
                    case 2 -> PopulateTokenList.decode(bytes, 2);
                    default -> WriteUsingTokenList.decode(bytes, 2);
                }
            } catch (InvalidParameterListException e) {
                assertThat(e.sense().key()).isEqualTo(SenseKey.ILLEGAL_REQUEST);
                refused++;
            }
        }
        assertThat(refused).as("seed %d", SEED).isBetween(1, 99_999);
    }

    @Test
    void shouldReadAndWriteOperatingParameters() throws Exception {
        var parameters = new CopyOperatingParameters(true,
                new CopyParameterList.Limits(16, 64, 2304), 0x1fffe00, 16, 15, 9,
                List.of(0x02, 0xe4));
        String hex = "0000002a 01000000 00100040 00000900 01fffe00 00000000 00000000 00000000"
                + "00000010 0f090000 00000002 02e4";

        assertThat(bytes(parameters)).isEqualTo(Bytes.ofHex(hex));
        assertThat(CopyOperatingParameters.decode(Golden.bytes(hex))).isEqualTo(parameters);
    }

    @Test
    void shouldReadAndWriteShortCopyStatusInUnitsThatFit() throws Exception {
        var small = new ShortCopyStatus(ShortCopyStatus.State.SUCCEEDED, 2, 0x10_0000);
        assertThat(bytes(small)).isEqualTo(Bytes.ofHex("00000008 01 0002 00 00100000"));
        assertThat(ShortCopyStatus.decode(bytes(small).segment())).isEqualTo(small);
        var large = new ShortCopyStatus(ShortCopyStatus.State.FAILED, 1, 5L << 40);
        assertThat(bytes(large)).isEqualTo(Bytes.ofHex("00000008 02 0001 02 00500000"));
        assertThat(ShortCopyStatus.decode(bytes(large).segment())).isEqualTo(large);
    }

    @Test
    void shouldReadAndWriteFailedSegmentDetails() throws Exception {
        var details = new FailedSegmentDetails(2, Bytes.ofHex("70000a"));
        Bytes hex = Bytes.ofHex("0000003b" + "00".repeat(52) + "02000003 70000a");
        assertThat(bytes(details)).isEqualTo(hex);
        assertThat(FailedSegmentDetails.decode(hex.segment())).isEqualTo(details);
    }

    @Test
    void shouldReadAndWriteInformationOnCopyOperations() throws Exception {
        var failed = new CopyOperationInformation(Tail.NOTHING, 1, State.FAILED, 3, 0, 2, 0,
                0x200, 1, Bytes.ofHex("70000a"), Optional.empty());
        assertThat(bytes(failed)).isEqualTo(Bytes.ofHex("0000001f 0102 0003 00000000 02030300"
                + "0000000000000200 0001 000000000000 70000a"));
        assertThat(CopyOperationInformation.decode(bytes(failed).segment(), Tail.NOTHING))
                .isEqualTo(failed);
        var populated = new CopyOperationInformation(Tail.ROD_TOKEN, 0x10, State.SUCCEEDED, 0, 0,
                0, CopyOperationInformation.IN_BLOCKS, 8, 0, Bytes.EMPTY,
                Optional.of(RodToken.zeroes()));
        assertThat(bytes(populated)).isEqualTo(Bytes.ofHex("00000222 1001 0000 00000000 000000f1"
                + "0000000000000008 0000 000000000000 00000202 0000" + RodToken.zeroes()));
        assertThat(CopyOperationInformation.decode(bytes(populated).segment(), Tail.ROD_TOKEN))
                .isEqualTo(populated);
        var goingOn = new CopyOperationInformation(Tail.HELD_DATA, 0x11, State.IN_BACKGROUND, 1,
                100, 0, 0xf1, 8, 0, Bytes.EMPTY, Optional.empty());
        assertThat(bytes(goingOn)).isEqualTo(Bytes.ofHex("00000020 1112 0001 00000064 000000f1"
                + "0000000000000008 0000 000000000000 00000000"));
    }

    @Test
    void shouldReadAndWriteListsAboutTokens() throws Exception {
        var ranges = List.of(new BlockRange(0x10, 8), new BlockRange(0x1_0000_0000L, 1));
        String rangesHex = "0020 0000000000000010 00000008 00000000"
                + "0000000100000000 00000001 00000000";
        var populate = new PopulateTokenList(true, 30, OptionalLong.of(RodToken.CHANGE_VULNERABLE),
                ranges);
        assertThat(bytes(populate)).isEqualTo(
                Bytes.ofHex("002e 0300 0000001e 00800001 0000" + rangesHex));
        assertThat(PopulateTokenList.decode(bytes(populate).segment(), 2)).isEqualTo(populate);
        var write = new WriteUsingTokenList(false, true, 5, RodToken.zeroes(), ranges);
        assertThat(bytes(write)).isEqualTo(Bytes.ofHex("0236 0200 00000000 0000000000000005"
                + RodToken.zeroes() + "000000000000" + rangesHex));
        assertThat(WriteUsingTokenList.decode(bytes(write).segment(), 2)).isEqualTo(write);
    }

    @Test
    void shouldRejectRangesThatOverlapOrAreTooMany() {
        byte[] overlapping = new PopulateTokenList(false, 0, OptionalLong.empty(),
                List.of(new BlockRange(8, 8), new BlockRange(0, 9))).bytes();
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> PopulateTokenList.decode(MemorySegment.ofArray(overlapping), 2))
                .satisfies(e -> assertThat(e.sense().additional())
                        .isEqualTo(AdditionalSense.INVALID_FIELD_IN_PARAMETER_LIST));
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> PopulateTokenList.decode(MemorySegment.ofArray(overlapping), 1))
                .satisfies(e -> assertThat(e.sense().additional())
                        .isEqualTo(AdditionalSense.TOO_MANY_SEGMENT_DESCRIPTORS));
    }

    @Test
    void shouldWriteTokens() {
        var token = new RodToken(RodToken.CHANGE_VULNERABLE, 0x1122334455667788L, DISK, 4096,
                new CapacityData16(7, 512, 0, 3, true, true, 0), new Identifier.ScsiName("iqn.a"),
                Bytes.ofHex("ab".repeat(32)));
        assertThat(bytes(token)).isEqualTo(Bytes.ofHex("00800001 000001f8 1122334455667788" + CSCD
                + "00".repeat(14) + "1000" + "00".repeat(32) + "00000200 0003c000" + "00".repeat(24)
                + "53a80008 69716e2e61000000" + "00".repeat(340) + "ab".repeat(32)));
        assertThat(RodToken.type(bytes(token))).isEqualTo(RodToken.CHANGE_VULNERABLE);
        assertThat(RodToken.identifier(bytes(token))).isEqualTo(0x1122334455667788L);
        assertThat(RodToken.hasValidLength(bytes(token))).isTrue();
        assertThat(RodToken.zeroes().toString()).startsWith("ffff0001000001f80000");
    }

    @Test
    void shouldReadAndWriteThirdPartyCopyPage() throws Exception {
        var page = new ThirdPartyCopy(List.of(
                ThirdPartyCopy.Descriptor.blockTokenLimits(64, 600, 60, 0x100000, 0x1000),
                ThirdPartyCopy.Descriptor.commands(
                        new TreeMap<>(java.util.Map.of(0x83, List.of(0, 1), 0x84, List.of(3)))),
                LIMITS.parameterData(),
                ThirdPartyCopy.Descriptor.descriptorTypes(List.of(0x02, 0xe4)),
                ThirdPartyCopy.Descriptor.cscdIds(List.of(0xffff)),
                ThirdPartyCopy.Descriptor.rodTypes(List
                        .of(new ThirdPartyCopy.RodType(RodToken.ZEROES, true, false)))));
        assertThat(bytes(page)).isEqualTo(Bytes.ofHex("008f00a8"
                + "00000020 000000000000 0040 00000258 0000003c 0000000000100000 0000000000001000"
                + "00010008 07 830200 01 840103"
                + "0004001c 00000000 00020002 00000080" + "00".repeat(16)
                + "00080004 0202e400" + "000c0004 0002ffff"
                + "01080044 00000040 ffff0001 02" + "00".repeat(59)));
        assertThat(VpdPage.decode(bytes(page).segment())).isEqualTo(page);
    }

    @Test
    void shouldPointIntoSegmentsInSenseOfAbortedCopies() {
        Sense sense = Sense.of(SenseKey.COPY_ABORTED, AdditionalSense.UNREACHABLE_COPY_TARGET)
                .withCommandSpecific(3)
                .withSpecific(new SegmentPointer(true, 6, OptionalInt.empty()));
        assertThat(Bytes.of(sense.encodeFixed()))
                .isEqualTo(Bytes.ofHex("70000a00 0000000a 00000003 080400 a00006"));
        assertThat(Sense.decode(MemorySegment.ofArray(sense.encodeFixed()))).isEqualTo(sense);
        assertThat(Sense.decode(MemorySegment.ofArray(sense.encodeDescriptor()))).isEqualTo(sense);
    }
}
