package lunar.scsi.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.OptionalLong;
import lunar.scsi.Bytes;
import lunar.scsi.CdbForm;
import lunar.scsi.Golden;
import lunar.scsi.Lun;
import lunar.scsi.MalformedDataException;
import lunar.scsi.block.CapacityData10;
import lunar.scsi.block.CapacityData16;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ControlModePage;
import lunar.scsi.mode.InformationalExceptionsModePage;
import lunar.scsi.mode.ModeParameters;
import lunar.scsi.primary.LunList;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Designator.Association;
import lunar.scsi.vpd.DeviceIdentification;
import lunar.scsi.vpd.Identifier;
import lunar.scsi.vpd.LogicalBlockProvisioning;
import lunar.scsi.vpd.Naa;
import lunar.scsi.vpd.StandardInquiry;
import lunar.scsi.vpd.SupportedVpdPages;
import lunar.scsi.vpd.VpdPage;
import org.junit.jupiter.api.Test;

/** Tests decoding and encoding of data from real targets. */
class GoldenDataTest {
    @Test
    void shouldReadTheInquiryDataOfTgtdAndLio() throws Exception {
        var tgtd = StandardInquiry.decode(longest("libiscsi-tgtd-chap-mutual", "120000"));
        assertThat(tgtd).isEqualTo(new StandardInquiry(0, StandardInquiry.DISK, false, 5, false,
                true, false, 0, false, false, false, false, true, "IET", "VIRTUAL-DISK", "0001",
                List.of(0x04c0, 0x0960, 0x0300)));
        var controller = StandardInquiry.decode(longest("libiscsi-tgtd-report-luns", "120000"));
        assertThat(controller.deviceType()).isEqualTo(StandardInquiry.CONTROLLER);
        var lio = StandardInquiry.decode(longest("libiscsi-lio", "120000"));
        assertThat(lio).isEqualTo(new StandardInquiry(0, StandardInquiry.DISK, false, 6, false,
                false, true, 3, true, false, false, false, true, "LIO-ORG", "RAMDISK-MCP", "4.0",
                List.of(0x00a0, 0x0960, 0x0460, 0x04c0)));
    }

    @Test
    void shouldWriteInquiryDataAsTgtdDoes() throws Exception {
        MemorySegment golden = longest("libiscsi-tgtd-chap-mutual", "120000");
        byte[] ours = StandardInquiry.decode(golden).bytes();
        byte[] theirs = Bytes.of(golden).toArray();
        theirs[4] = (byte) (ours.length - 5); // we always tell 96 bytes
        assertThat(ours).startsWith(theirs);
    }

    @Test
    void shouldReadVpdPagesOfTgtdAndWriteThemAgain() throws Exception {
        assertThat(again(longest("qemu-tgtd", "12010000")))
                .isEqualTo(new SupportedVpdPages(List.of(0, 0x80, 0x83, 0xb0, 0xb1, 0xb2)));
        assertThat(again(longest("qemu-tgtd", "1201b0"))).isInstanceOfSatisfying(BlockLimits.class,
                page -> assertThat(page.unmapAlignmentBlocks()).isEqualTo(OptionalLong.empty()));
        assertThat(again(longest("qemu-tgtd", "1201b2"))).isEqualTo(
                new LogicalBlockProvisioning(0, false, false, false, 0, false, 0));
    }

    @Test
    void shouldReadDesignatorsOfTgtdWholeAndCut() throws Exception {
        MemorySegment whole = longest("qemu-tgtd", "12018300");
        var page = (DeviceIdentification) VpdPage.decode(whole);
        assertThat(VpdPage.fullLength(whole)).isEqualTo(whole.byteSize());
        assertThat(page.designators()).hasSize(3)
                .allMatch(it -> it.association() == Association.LOGICAL_UNIT);
        assertThat(page.designators().getFirst().identifier()).isInstanceOfSatisfying(
                Identifier.T10VendorId.class, it -> assertThat(it.vendor()).isEqualTo("IET"));
        assertThat(page.designators().get(1).identifier())
                .isEqualTo(new Naa(Bytes.ofHex("3000000600000001")));
        assertThat(page.designators().get(2).identifier())
                .isEqualTo(new Naa(Bytes.ofHex("6000000000000000 0e00000000060001")));
        var cut = (DeviceIdentification) VpdPage.decode(whole.asSlice(0, 64));
        assertThat(cut.designators()).isEqualTo(page.designators().subList(0, 2));
        assertThat(VpdPage.fullLength(whole.asSlice(0, 4))).isEqualTo(whole.byteSize());
    }

    @Test
    void shouldReadCapacityDataAndWriteItAgain() throws Exception {
        MemorySegment golden = longest("libiscsi-tgtd", "9e10");
        var capacity = CapacityData16.decode(golden);
        assertThat(capacity).isEqualTo(new CapacityData16(0x1fff, 512, 0, 3, false, false, 0));
        assertThat(Bytes.of(capacity.bytes())).isEqualTo(Bytes.of(golden));
        MemorySegment ten = longest("libiscsi-tgtd", "25");
        assertThat(CapacityData10.decode(ten)).isEqualTo(CapacityData10.of(0x2000, 512));
        assertThat(Bytes.of(CapacityData10.of(0x2000, 512).bytes())).isEqualTo(Bytes.of(ten));
    }

    @Test
    void shouldReadLunListsAndWriteThemAgain() throws Exception {
        MemorySegment golden = longest("libiscsi-tgtd", "a000");
        var luns = LunList.decode(golden);
        assertThat(luns.luns()).containsExactly(Lun.of(0), Lun.of(1));
        assertThat(Bytes.of(luns.bytes())).isEqualTo(Bytes.of(golden));
        MemorySegment cut = golden.asSlice(0, 16);
        assertThat(LunList.decode(cut).luns()).containsExactly(Lun.of(0));
        assertThat(LunList.fullLength(cut)).isEqualTo(24);
    }

    @Test
    void shouldReadModeDataAndWriteThemAgain() throws Exception {
        for (String target : List.of("qemu-lio", "qemu-tgtd")) {
            MemorySegment golden = longest(target, "1a083f00");
            var parameters = ModeParameters.decodeSense(CdbForm.CDB6, golden);
            assertThat(Bytes.of(parameters.sense(CdbForm.CDB6, false).bytes())).as(target)
                    .isEqualTo(Bytes.of(golden));
            assertThat(parameters.page(ControlModePage.CODE)).isPresent();
            assertThat(parameters.page(InformationalExceptionsModePage.CODE)).isPresent();
            assertThat(parameters.blocks()).isEmpty();
        }
        var tgtd = ModeParameters.decodeSense(CdbForm.CDB6, longest("qemu-tgtd", "1a083f00"));
        assertThat(tgtd.supportsFua()).isTrue();
        assertThat(tgtd.isWriteProtected()).isFalse();
        assertThat(tgtd.page(CachingModePage.CODE)).get().isInstanceOfSatisfying(
                CachingModePage.class, it -> assertThat(it.writeCacheEnabled()).isTrue());
    }

    @Test
    void shouldReadCutModeDataWithABlockDescriptor() throws Exception {
        var parameters = ModeParameters.decodeSense(CdbForm.CDB6,
                longest("kernel-lio", "1a000800"));
        assertThat(parameters.blocks()).contains(new ModeParameters.Blocks(0x3fff, 512));
        assertThat(parameters.page(CachingModePage.CODE)).isPresent();
        var header = ModeParameters.decodeSense(CdbForm.CDB6, Golden.bytes("43000008"));
        assertThat(header.blocks()).isEmpty();
        assertThat(header.pages()).isEmpty();
    }

    private static VpdPage again(MemorySegment golden) throws MalformedDataException {
        VpdPage page = VpdPage.decode(golden);
        assertThat(Bytes.of(page.bytes())).isEqualTo(Bytes.of(golden));
        return page;
    }

    private static MemorySegment longest(String target, String cdbHex) {
        return Golden.find(target, cdbHex).stream().map(Golden::data)
                .max((a, b) -> Long.compare(a.byteSize(), b.byteSize())).orElseThrow();
    }
}
