package lunar.scsi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Stream;
import lunar.scsi.block.CapacityData10;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.block.LbaStatusList;
import lunar.scsi.block.LbaStatusList.Extent;
import lunar.scsi.block.LbaStatusList.Provisioning;
import lunar.scsi.block.UnmapParameterList;
import lunar.scsi.command.CommandDescriptor;
import lunar.scsi.command.CommandDescriptor.Timeouts;
import lunar.scsi.command.StandardCommands;
import lunar.scsi.command.SupportedOperationCode;
import lunar.scsi.command.SupportedOperationCodes;
import lunar.scsi.command.TaskManagementSupport;
import lunar.scsi.command.TaskManagementSupport.Function;
import lunar.scsi.log.LogPage;
import lunar.scsi.log.LogParameter;
import lunar.scsi.primary.IdentifyingInformation;
import lunar.scsi.primary.LunList;
import lunar.scsi.primary.TargetPortGroupStates;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TargetPortGroups.State;
import lunar.scsi.primary.Timestamp;
import lunar.scsi.vpd.BlockDeviceCharacteristics;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Designator;
import lunar.scsi.vpd.DeviceIdentification;
import lunar.scsi.vpd.ExtendedInquiry;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.LogicalBlockProvisioning;
import lunar.scsi.vpd.ModePagePolicy;
import lunar.scsi.vpd.Naa;
import lunar.scsi.vpd.OtherVpdPage;
import lunar.scsi.vpd.Referrals;
import lunar.scsi.vpd.ScsiPorts;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.scsi.vpd.UnitSerialNumber;
import lunar.scsi.vpd.VpdPage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ParameterDataTest {
    private static final long SEED = Long.getLong("lunar.seed", 20260104);
    private static final UUID DEVICE = UUID.fromString("12345678-9abc-4def-8123-456789abcdef");

    interface Decoder {
        Object decode(MemorySegment bytes) throws ScsiException;
    }

    record Case(String name, ParameterData value, Decoder decoder) {
        @Override
        public String toString() { return name; }
    }

    static Stream<Case> cases() {
        var designators = new DeviceIdentification(List.of(
                Designator.ofUnit(new Identifier.T10VendorId("LUNAR", "disk 1")),
                Designator.ofUnit(Naa.locallyAssigned(DEVICE)),
                Designator.ofUnit(Naa.registeredExtended(0x123456, DEVICE)),
                Designator.ofUnit(new Identifier.UuidName(DEVICE)),
                Designator.ofUnit(new Identifier.Eui64(Bytes.ofHex("0011223344556677"))),
                Designator.ofUnit(new Identifier.LogicalUnitGroup(5)),
                Designator.ofPort(new Identifier.RelativeTargetPort(0x1234)),
                Designator.ofPort(new Identifier.TargetPortGroup(1)),
                Designator.ofPort(new Identifier.ScsiName("iqn.2026-01.org.lunar:a,t,0x0001")),
                Designator.ofDevice(new Identifier.ScsiName("iqn.2026-01.org.lunar:äö")),
                Designator.ofUnit(new Identifier.Other(1, 0xc, Bytes.ofHex("0102")))));
        return Stream.of(
                of(StandardInquiry.disk("LUNAR", "ram", "0.1").withTpgs(1),
                        StandardInquiry::decode),
                of(StandardInquiry.nothing("LUNAR", "nothing", "0.1"), StandardInquiry::decode),
                of(SupportedVpdPages.of(List.of(designators)), VpdPage::decode),
                of(new UnitSerialNumber("0123456789abcdef"), VpdPage::decode),
                of(designators, VpdPage::decode),
                of(new ExtendedInquiry(true, false, true, false, true, false, true, 96),
                        VpdPage::decode),
                of(new ExtendedInquiry(false, true, false, true, false, true, false, 0),
                        VpdPage::decode),
                of(new BlockLimits(true, 1, 2, 3, 4, 5, 6, 7, 8, OptionalLong.of(9), -1, 12),
                        VpdPage::decode),
                of(new BlockDeviceCharacteristics(1, 2, 3, true, 1, 2), VpdPage::decode),
                of(new LogicalBlockProvisioning(1, true, false, true, 1, true, 2),
                        VpdPage::decode),
                of(new Referrals(0x01020304, 0xfffffffeL), VpdPage::decode),
                of(ModePagePolicy.shared(), VpdPage::decode),
                of(new ScsiPorts(List.of(new ScsiPorts.Port(1, designators.designators()),
                        new ScsiPorts.Port(0x1234, List.of()))), VpdPage::decode),
                of(StandardInquiry.wellKnown("LUNAR", "luns", "0.1").withMultiPort(true),
                        StandardInquiry::decode),
                of(new TargetPortGroupStates(List.of(
                        new TargetPortGroupStates.Wanted(State.STANDBY, 1),
                        new TargetPortGroupStates.Wanted(State.ACTIVE_OPTIMIZED, 0x1234))),
                        TargetPortGroupStates::decode),
                of(new Timestamp(3, 0x1234_5678_9abcL), Timestamp::decode),
                of(new IdentifyingInformation(Bytes.ofHex("414200")),
                        IdentifyingInformation::decode),
                of(LogPage.of(LogPage.READ_ERRORS, List.of(LogParameter.counter(5, 1L << 40),
                        LogParameter.list(6, (byte) 1))), LogPage::decode),
                of(new LogPage(0, 0xff, Bytes.ofHex("000000ff")), LogPage::decode),
                of(new OtherVpdPage(0xc0, Bytes.ofHex("010203")), VpdPage::decode),
                of(new CapacityData10(5, 4096), CapacityData10::decode),
                of(new CapacityData16(1L << 40, 4096, 2, 3, true, true, 0x3fff),
                        CapacityData16::decode),
                of(new CapacityData16(7, 512, 0, 0, false, true, 0), CapacityData16::decode),
                of(new LunList(List.of(Lun.of(0), Lun.of(255), Lun.of(256))), LunList::decode),
                of(new UnmapParameterList(List.of(new UnmapParameterList.Range(1, 2),
                        new UnmapParameterList.Range(1L << 40, 0xffff_fff0L))),
                        bytes -> UnmapParameterList.decode(bytes, 2, 0xffff_ffffL)),
                of(new LbaStatusList(List.of(new Extent(0, 8, Provisioning.MAPPED),
                        new Extent(8, 0xffff_ffffL, Provisioning.DEALLOCATED))),
                        LbaStatusList::decode),
                of(new LbaStatusList(List.of(), true), LbaStatusList::decode),
                of(new LbaStatusList(List.of(new Extent(0, 8, Provisioning.UNKNOWN))),
                        LbaStatusList::decode),
                of(new TargetPortGroups(true, 7, groups()), TargetPortGroups::decode),
                of(new TargetPortGroups(false, 0, groups()), TargetPortGroups::decode),
                of(new TaskManagementSupport(EnumSet.allOf(Function.class), true),
                        TaskManagementSupport::decode),
                of(new TaskManagementSupport(EnumSet.of(Function.ABORT_TASK), false),
                        TaskManagementSupport::decode),
                of(SupportedOperationCodes.of(StandardCommands.ALL, true),
                        SupportedOperationCodes::decode),
                of(SupportedOperationCodes.of(StandardCommands.ALL, false),
                        SupportedOperationCodes::decode),
                of(new SupportedOperationCode(SupportedOperationCode.Support.STANDARD,
                        Bytes.ofHex("120102"), Optional.of(new Timeouts(0, 0))),
                        SupportedOperationCode::decode));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldDecodeWhatItEncoded(Case it) throws Exception {
        assertThat(it.decoder.decode(MemorySegment.ofArray(it.value.bytes())))
                .isEqualTo(it.value);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldSurviveCutAndMutatedBytes(Case it) {
        var random = new Random(SEED);
        byte[] whole = it.value.bytes();
        for (int i = 0; i < 5_000; i++) {
            byte[] bytes = Arrays.copyOf(whole, random.nextInt(whole.length + 9));
            for (int n = random.nextInt(6); n > 0 && bytes.length > 0; n--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            try {
                assertThat(it.decoder.decode(MemorySegment.ofArray(bytes))).isNotNull();
            } catch (ScsiException e) {
                assertThat(e).as("seed %d, %d", SEED, i).hasMessageMatching("(?s).+");
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + SEED + ", " + i + ": " + Bytes.of(bytes), e);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldCutToTheAllocationLengthAndNothingElse(Case it) {
        byte[] whole = it.value.bytes();
        for (int length = 0; length <= whole.length + 1; length++) {
            byte[] target = filled(whole.length + 2);
            int written = it.value.encode(MemorySegment.ofArray(target), length);
            assertThat(written).isEqualTo(Math.min(length, whole.length));
            byte[] expected = filled(target.length);
            System.arraycopy(whole, 0, expected, 0, written);
            assertThat(target).isEqualTo(expected);
        }
        assertThat(it.value.encode(MemorySegment.ofArray(new byte[3]), 0xffff_ffffL))
                .isEqualTo(Math.min(3, whole.length));
    }

    @Test
    void shouldWriteThePrimaryParameterDataAsTheStandardHasThem() {
        assertThat(hex(ModePagePolicy.shared())).isEqualTo("00870004" + "3fff0000");
        assertThat(hex(new ScsiPorts(List.of(new ScsiPorts.Port(2,
                List.of(Designator.ofPort(new Identifier.RelativeTargetPort(2))))))))
                .isEqualTo("00880014" + "0000000200000000" + "0000000851940004" + "00000002");
        assertThat(hex(new TargetPortGroupStates(
                List.of(new TargetPortGroupStates.Wanted(State.UNAVAILABLE, 0x102)))))
                .isEqualTo("00000000" + "03000102");
        assertThat(hex(new Timestamp(3, 0x0102_0304_0506L)))
                .isEqualTo("000a0300010203040506" + "0000");
        assertThat(hex(new IdentifyingInformation(Bytes.ofHex("4142")))).isEqualTo("000000024142");
        assertThat(hex(IdentifyingInformation.supported()))
                .isEqualTo("00000008" + "00000200" + "04000100");
        LogPage page = LogPage.of(LogPage.WRITE_ERRORS, List.of(LogParameter.counter(5, 258)));
        assertThat(hex(page)).isEqualTo("8200000c" + "00052208" + "0000000000000102");
        assertThat(page.parameters().getFirst().number()).isEqualTo(258);
        assertThat(Lun.REPORT_LUNS.number()).isEqualTo(-1);
    }

    private static String hex(ParameterData data) { return Bytes.of(data.bytes()).toString(); }

    @Test
    void shouldDeriveTheSameNameForTheSameDevice() {
        assertThat(Naa.locallyAssigned(DEVICE)).isEqualTo(Naa.locallyAssigned(DEVICE));
        assertThat(Naa.locallyAssigned(DEVICE).value().at(0) >> 4).isEqualTo(3);
        Bytes extended = Naa.registeredExtended(0xabcdef, DEVICE).value();
        assertThat(extended.toString()).startsWith("6abcdef").hasSize(32);
        assertThat(Naa.registeredExtended(0xabcdef, new UUID(0, 1)).value())
                .isNotEqualTo(extended);
    }

    @Test
    void shouldRejectUnmapListsThatBreakTheRules() {
        assertUnmapFails("00", "ILLEGAL REQUEST 1Ah/00h parameter list length error");
        assertUnmapFails("0016001000000000 0000000000000000",
                "ILLEGAL REQUEST 1Ah/00h parameter list length error");
        assertUnmapFails("0006001000000000 0000000000000000 00000001 00000000",
                "ILLEGAL REQUEST 26h/00h invalid field in parameter list, parameter list byte 0");
        assertUnmapFails("0016001000000000 0000000000000000 00000065 00000000",
                "ILLEGAL REQUEST 26h/00h invalid field in parameter list, parameter list byte 16");
        assertUnmapFails("00260020 00000000" + "0".repeat(64),
                "ILLEGAL REQUEST 26h/00h invalid field in parameter list, parameter list byte 2");
    }

    @Test
    void shouldAcceptUnmapListsWithoutRanges() throws Exception {
        assertThat(UnmapParameterList.decode(Golden.bytes(""), 1, 100).ranges()).isEmpty();
        assertThat(UnmapParameterList.decode(Golden.bytes("0006000000000000"), 1, 100).ranges())
                .isEmpty();
    }

    @Test
    void shouldKeepHostileTextOutOfRecords() throws Exception {
        var inquiry = StandardInquiry.decode(Golden.bytes("00000512 5b000002"
                + "4c0a1b5b41202020" + "ff".repeat(16) + "00000000" + "00".repeat(60)));
        assertThat(inquiry.vendor()).isEqualTo("L??[A");
        assertThat(inquiry.product()).isEqualTo("?".repeat(16));
        assertThat(inquiry.revision()).isEmpty();
    }

    @Test
    void shouldRejectOurOwnValuesThatDoNotFit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> StandardInquiry.disk("too long a vendor", "", ""));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new UnitSerialNumber("x".repeat(253)));
        assertThatIllegalArgumentException().isThrownBy(() -> new Naa(Bytes.ofHex("00")));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new BlockLimits(false, 256, 0, 0, 0, 0, 0, 0, 0,
                        OptionalLong.empty(), 0, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new CommandDescriptor("x", 0x12, OptionalInt.empty(),
                        Bytes.ofHex("00"), Optional.empty()));
    }

    private static void assertUnmapFails(String hex, String message) {
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> UnmapParameterList.decode(Golden.bytes(hex), 1, 100))
                .withMessage(message);
    }

    private static byte[] filled(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 0xee);
        return bytes;
    }

    private static Case of(ParameterData value, Decoder decoder) {
        return new Case(value.getClass().getSimpleName(), value, decoder);
    }

    private static List<TargetPortGroups.Group> groups() {
        return List.of(
                new TargetPortGroups.Group(1, true, State.ACTIVE_OPTIMIZED, 1, 2, List.of(1, 2)),
                new TargetPortGroups.Group(2, false, State.TRANSITIONING, 0x8f, 0, List.of()));
    }
}
