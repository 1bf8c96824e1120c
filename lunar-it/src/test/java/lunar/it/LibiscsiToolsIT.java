package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import lunar.block.BlockDevice;
import lunar.target.IoLimit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests Lunar's target with libiscsi's small tools: LUNs, INQUIRY, every VPD page, capacity. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LibiscsiToolsIT {
    private ServedTarget target;

    @BeforeAll
    void serve() throws Exception {
        Peer.assume("iscsi-ls", "iscsi-inq", "iscsi-readcapacity16", "iscsi-perf");
        target = ServedTarget.of("ram:256MiB", "ram:64MiB?block-size=4096");
    }

    @AfterAll
    void close() throws Exception {
        if (target != null) {
            target.close();
        }
    }

    /** A page by its number; the tool wants it in decimal. */
    private Peer.Result page(int code, int lun) throws Exception {
        return Peer.run("iscsi-inq", "-e", "1", "-c", Integer.toString(code), target.url(lun));
    }

    @Test
    void shouldListTargetAndLuns() throws Exception {
        Peer.Result result = Peer.run("iscsi-ls", "-s", target.portalUrl()).succeeded();

        // iscsi-ls takes the last block for the number of blocks, so a LUN seems a mebibyte smaller.
        assertThat(result.lines()).containsExactly(
                "Target:" + ServedTarget.NAME + " Portal:" + target.portal() + ",1",
                "Lun:0    Type:DIRECT_ACCESS (Size:255M)",
                "Lun:1    Type:DIRECT_ACCESS (Size:63M)");
    }

    @Test
    void shouldListEveryTargetInUrlForm() throws Exception {
        Peer.Result result = Peer.run("iscsi-ls", "--url", target.portalUrl()).succeeded();

        assertThat(result.output())
                .contains("iscsi://" + target.portal() + "/" + ServedTarget.NAME);
    }

    @Test
    void shouldReportStandardInquiryData() throws Exception {
        assertThat(Peer.run("iscsi-inq", target.url(0)).succeeded().lines()).contains(
                "Peripheral Qualifier:CONNECTED", "Peripheral Device Type:DIRECT_ACCESS",
                "Removable:0", "ReponseDataFormat:2", "HiSup:1", "CmdQue:1", "Protect:0",
                "Vendor:LUNAR", "Product:memory", "Revision:0.1",
                "Version Descriptor:0460 SPC-4", "Version Descriptor:04c0 SBC-3",
                "Version Descriptor:0960 iSCSI");
    }

    @Test
    void shouldListEverySupportedPage() throws Exception {
        assertThat(page(0x00, 0).succeeded().lines()).map(line -> line.split(" ")[0])
                .containsExactly("Page:0x00", "Page:0x80", "Page:0x83", "Page:0x85", "Page:0x86",
                        "Page:0x87", "Page:0x88", "Page:0x8f", "Page:0xb0", "Page:0xb1",
                        "Page:0xb2", "Page:0xb3", "Page:0xc0");
    }

    @Test
    void shouldReportSerialNumberOfDevice() throws Exception {
        for (int lun = 0; lun < 2; lun++) {
            assertThat(page(0x80, lun).succeeded().lines()).containsExactly(
                    "Unit Serial Number:[" + target.device(lun).identity().serial() + "]");
        }
    }

    @Test
    void shouldIdentifyUnitPortAndTarget() throws Exception {
        Peer.Result result = page(0x83, 0).succeeded();

        assertThat(result.lines()).contains("Designator Type:(3) NAA",
                "Designator Type:(4) RELATIVE_TARGET_PORT", "Designator Type:(5) TARGET_PORT_GROUP",
                "Designator:[LUNAR   " + target.device(0).identity().serial() + "]",
                "Designator:[" + ServedTarget.NAME + ",t,0x0001]",
                "Designator:[" + ServedTarget.NAME + "]");
        assertThat(result.lines())
                .filteredOn(line -> line.equals("Device Protocol Identifier:(5) ISCSI"))
                .hasSize(4);
    }

    /** libiscsi 1.19 cannot read this page; that it says so shows that the page came with GOOD status. */
    @Test
    void shouldSendExtendedInquiryPage() throws Exception {
        assertThat(page(0x86, 0).output()).contains("failed to unmarshall inquiry datain blob");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void shouldReportLimitsOfDevice(int lun) throws Exception {
        BlockDevice device = target.device(lun);
        int transferBlocks = Math.min(device.limits().maxTransferBlocks(),
                (4 << 20) / device.blockSize());
        int physicalBlocks = device.geometry().physicalBlockSize() / device.blockSize();

        assertThat(page(0xb0, lun).succeeded().lines()).contains("wsnz:0",
                "maximum compare and write length:"
                        + Math.min(device.limits().maxCompareAndWriteBlocks(), 128),
                "optimal transfer length granularity:" + physicalBlocks,
                "maximum transfer length:" + transferBlocks,
                "optimal transfer length:"
                        + Math.min(device.limits().optimalTransferBlocks(), transferBlocks),
                "maximum unmap lba count:" + device.limits().maxUnmapBlocks(),
                "maximum unmap block descriptor count:256",
                "optimal unmap granularity:" + physicalBlocks, "ugavalid:0");
    }

    @Test
    void shouldReportThatNothingRotates() throws Exception {
        assertThat(page(0xb1, 0).succeeded().lines()).containsExactly("Medium Rotation Rate:1RPM");
    }

    @Test
    void shouldReportThinProvisioning() throws Exception {
        assertThat(page(0xb2, 0).succeeded().lines()).containsExactly("Threshold Exponent:11",
                "lbpu:1", "lbpws:1", "lbpws10:1", "lbprz:1", "anc_sup:0", "dp:0",
                "provisioning type:2");
    }

    @Test
    void shouldRejectPageItDoesNotHave() throws Exception {
        Peer.Result result = page(0xc7, 0);

        assertThat(result.output()).contains("ILLEGAL_REQUEST");
        assertThat(result.status()).isNotZero();
    }

    @Test
    void shouldRejectUnknownLun() throws Exception {
        Peer.Result result = Peer.run("iscsi-inq", target.url(9));

        assertThat(result.output()).contains("LOGICAL_UNIT_NOT_SUPPORTED(0x2500)");
        assertThat(result.status()).isNotZero();
    }

    @Test
    void shouldReportCapacity() throws Exception {
        for (int lun = 0; lun < 2; lun++) {
            BlockDevice device = target.device(lun);
            int exponent = Integer.numberOfTrailingZeros(
                    device.geometry().physicalBlockSize() / device.blockSize());
            assertThat(Peer.run("iscsi-readcapacity16", target.url(lun)).succeeded().lines())
                    .containsExactly(
                            "RETURNED LOGICAL BLOCK ADDRESS:" + (device.blockCount() - 1),
                            "LOGICAL BLOCK LENGTH IN BYTES:" + device.blockSize(),
                            "P_TYPE:0 PROT_EN:0",
                            "P_I_EXPONENT:0 LOGICAL BLOCKS PER PHYSICAL BLOCK EXPONENT:" + exponent,
                            "LBPME:1 LBPRZ:1", "LOWEST ALIGNED LOGICAL BLOCK ADDRESS:0",
                            "Total size:" + device.sizeBytes());
            assertThat(Peer.run("iscsi-readcapacity16", "-s", target.url(lun)).succeeded().lines())
                    .isEqualTo(List.of(Long.toString(device.sizeBytes())));
        }
    }

    @Test
    void shouldServeIscsiPerfWithoutError() throws Exception {
        Peer.Result result = Peer.run(Duration.ofMinutes(2), "iscsi-perf", "-t", "3", "-m", "32",
                "-b", "8", "-r", target.url(0)).succeeded();

        assertThat(result.output()).contains("iops average", "finished.")
                .doesNotContainIgnoringCase("error").doesNotContain("failed");
        assertThat(result.output()).containsPattern("iops average [1-9]");
    }

    @Test
    void shouldHoldIscsiPerfToALimit() throws Exception {
        int limit = 400;
        try (var limited = ServedTarget.of(
                spec -> spec.withLimit(0, new IoLimit(limit, IoLimit.UNLIMITED,
                        Duration.ofMillis(100))),
                "ram:64MiB")) {
            Peer.Result result = Peer.run(Duration.ofMinutes(2), "iscsi-perf", "-t", "5", "-m",
                    "32", "-b", "8", "-r", limited.url(0)).succeeded();
            assertThat(result.output()).contains("finished.").doesNotContainIgnoringCase("error")
                    .doesNotContain("failed");
            List<Integer> averages = Pattern.compile("iops average (\\d+)")
                    .matcher(result.output()).results()
                    .map(average -> Integer.valueOf(average.group(1))).toList();
            assertThat(averages.getLast()).isPositive().isLessThanOrEqualTo(limit * 11 / 10);
            assertThat(limited.server().commands(ServedTarget.NAME, 0).delayed()).isPositive();
        }
    }
}
