package lunar.scsi.mode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import lunar.scsi.Bytes;
import lunar.scsi.CdbForm;
import lunar.scsi.Golden;
import lunar.scsi.IllegalRequestException;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ParameterData;
import lunar.scsi.ScsiException;
import lunar.scsi.Sense;
import lunar.scsi.mode.ModeSense.PageControl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModePagesTest {
    private static final long SEED = Long.getLong("lunar.seed", 20260105);
    private static final ModePages DISK = DiskModePages.of(true, false, 60, 252);
    private static final ModeParameters.Blocks BLOCKS = new ModeParameters.Blocks(1L << 33, 4096);
    private static final String CONTROL = "0a0a 22 10 00 00 0000 0000 003c";

    @Test
    void shouldAnswerAllPagesInOrder() throws Exception {
        var answer = sense(CdbForm.CDB6, false, PageControl.CURRENT, 0x3f, 0);
        assertThat(answer.pages()).extracting(ModePage::code).containsExactly(0x01, 0x07, 0x08,
                0x0a, 0x1a, 0x1c);
        assertThat(answer.deviceSpecific()).isEqualTo(ModeParameters.DPO_FUA);
        assertThat(answer.page(CachingModePage.CODE)).contains(CachingModePage.of(true));
        assertThat(answer.blocks()).contains(new ModeParameters.Blocks(0xffff_ffffL, 4096));
        assertThat(sense(CdbForm.CDB10, true, PageControl.CURRENT, 0x3f, 0xff).blocks())
                .contains(BLOCKS);
    }

    @Test
    void shouldReportLengthsOfWhatItCouldSayRegardlessOfTheAllocationLength() throws Exception {
        var cdb = new ModeSense(CdbForm.CDB6, false, true, PageControl.CURRENT, 8, 0, 4);
        byte[] target = new byte[4];
        int written = DISK.answer(cdb, 0, BLOCKS).encode(MemorySegment.ofArray(target),
                cdb.allocationLength());
        assertThat(written).isEqualTo(4);
        assertThat(target).containsExactly(23, 0, 0, 0);
    }

    @Test
    void shouldReportWhatCanBeChanged() throws Exception {
        var mask = (ControlModePage) sense(CdbForm.CDB6, false, PageControl.CHANGEABLE, 0x0a, 0)
                .page(0x0a).orElseThrow();
        assertThat(mask.descriptorSense()).isTrue();
        assertThat(mask.softwareWriteProtect()).isTrue();
        assertThat(mask.taskAbortedStatus()).isFalse();
        var caching = (CachingModePage) sense(CdbForm.CDB6, false, PageControl.CHANGEABLE, 8, 0)
                .page(8).orElseThrow();
        assertThat(caching.writeCacheEnabled()).isTrue();
        assertThat(caching.readCacheDisabled()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"CURRENT, 5, 0, 2, 5", "CURRENT, 8, 1, 3, 7",
            "CURRENT, 63, 1, 3, 7"})
    void shouldRejectPagesThatAreNotThere(PageControl control, int page, int subpage,
            int byteAt, int bit) {
        assertThatExceptionOfType(InvalidCdbException.class)
                .isThrownBy(() -> sense(CdbForm.CDB6, false, control, page, subpage))
                .satisfies(e -> assertThat(e.sense())
                        .isEqualTo(Sense.invalidFieldInCdb(byteAt, bit)));
    }

    @Test
    void shouldRejectSavedValues() {
        assertThatExceptionOfType(InvalidCdbException.class)
                .isThrownBy(() -> sense(CdbForm.CDB6, false, PageControl.SAVED, 8, 0))
                .withMessageContaining("39h/00h");
    }

    @Test
    void shouldChangeWhatCanBeChangedAndRevert() throws Exception {
        ModePages changed = select("00000000 0a0a 26 10 08 00 0000 0000 003c");
        assertThat(changed.descriptorSense()).isTrue();
        assertThat(changed.softwareWriteProtect()).isTrue();
        assertThat(DISK.descriptorSense()).isFalse();
        ModePages reverted = changed.change(
                new ModeSelect(CdbForm.CDB6, false, true, false, 0), Golden.bytes(""), BLOCKS);
        assertThat(reverted.descriptorSense()).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = { // list | what is wrong
            "000000 | 1Ah/00h parameter list length error",
            "00000000 0a0a 00 | 1Ah/00h parameter list length error",
            "00000000 0a | 1Ah/00h parameter list length error",
            "00000008 0000 | 1Ah/00h parameter list length error",
            "00000007 00000000000000 | 26h/00h invalid field in parameter list, parameter list byte 3",
            "00000000 0a09 00 10 00 00 0000 0000 00 | 26h/00h invalid field in parameter list, parameter list byte 5",
            "00000008 0000000000000200 | 26h/00h invalid field in parameter list, parameter list byte 9",
            "00000008 0000000100001000 | 26h/00h invalid field in parameter list, parameter list byte 4",
            "00010000 | 26h/00h invalid field in parameter list, parameter list byte 1",
            "00000000 1c0a 00 03 00000000 00000000 | 26h/00h invalid field in parameter list, parameter list byte 7 bit 3",
            "00000000 050100 | 26h/00h invalid field in parameter list, parameter list byte 4 bit 5",
            "00000000 0a0a 22 10 00 40 0000 0000 003c | 26h/00h invalid field in parameter list, parameter list byte 9 bit 6",
            "00000008 0000000000001000 0a0a 02 10 00 00 0000 0000 003c | 26h/00h invalid field in parameter list, parameter list byte 14 bit 5"})
    void shouldPointAtWhatIsWrongInAModeSelect(String hex, String message) {
        assertThatExceptionOfType(InvalidParameterListException.class)
                .isThrownBy(() -> select(hex)).withMessage("ILLEGAL REQUEST " + message);
    }

    @Test
    void shouldRejectSavingAndVendorFormats() {
        MemorySegment list = Golden.bytes("00000000" + CONTROL);
        int length = (int) list.byteSize();
        assertThatExceptionOfType(InvalidCdbException.class).isThrownBy(() -> DISK
                .change(new ModeSelect(CdbForm.CDB6, true, false, true, length), list, BLOCKS))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(Sense.invalidFieldInCdb(1, 0)));
        assertThatExceptionOfType(InvalidCdbException.class).isThrownBy(() -> DISK
                .change(new ModeSelect(CdbForm.CDB6, false, false, false, length), list, BLOCKS))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(Sense.invalidFieldInCdb(1, 4)));
    }

    @Test
    void shouldSaveAndRestoreWhatCanBeChanged() throws Exception {
        ModePages saving = DiskModePages.of(false, true, 60, 252);
        MemorySegment list = Golden.bytes("00000000 0812 00" + "00".repeat(17) + CONTROL
                .replace("0a 22", "0a 26"));
        ModePages saved = saving.change(
                new ModeSelect(CdbForm.CDB6, true, false, true, (int) list.byteSize()), list,
                BLOCKS);
        byte[] kept = saved.savedPages();
        ModePages restored = saving.restored(MemorySegment.ofArray(kept));
        assertThat(restored.descriptorSense()).isTrue();
        assertThat(restored.current(8)).get().isInstanceOfSatisfying(CachingModePage.class,
                page -> assertThat(page.writeCacheEnabled()).isFalse());
        var asked = new ModeSense(CdbForm.CDB6, false, true, PageControl.SAVED, 8, 0, 255);
        assertThat(Bytes.of(restored.answer(asked, 0, BLOCKS).bytes()).toString())
                .isEqualTo("17000000" + "8812" + "00".repeat(18));

        kept[2 + 12 + 12 + 2 - 1] ^= (byte) 0x02; // RCD and the like cannot be changed, whatever was kept
        assertThat(saving.restored(MemorySegment.ofArray(kept)).current(8))
                .isEqualTo(restored.current(8));
        assertThatExceptionOfType(MalformedDataException.class).isThrownBy(
                () -> saving.restored(MemorySegment.ofArray(Arrays.copyOf(kept, 20))));
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> saving.restored(Golden.bytes("03")));
    }

    /** As servers of one unit share them: they must not take the current values for saved ones. */
    @Test
    void shouldRestoreSavedAndCurrentValues() throws Exception {
        ModePages saving = ModePages.of(
                List.of(ModePages.Entry.of(CachingModePage.of(true), CachingModePage.changeable())),
                true);
        MemorySegment list = Golden.bytes("00000000" + "0812" + "00".repeat(18));
        ModePages changed = saving.change(
                new ModeSelect(CdbForm.CDB6, true, false, false, (int) list.byteSize()), list,
                BLOCKS);
        String rest = "00".repeat(17);
        MemorySegment shared = Golden.bytes(
                "02" + "8812" + "04" + rest + "8812" + "00" + rest);
        assertThat(changed.savedAndCurrentPages()).isEqualTo(Bytes.of(shared).toArray());
        ModePages restored = saving.restored(shared);
        assertThat(restored.sameValues(changed)).isTrue();
        assertThat(restored.savedPages()).isEqualTo(saving.savedPages());
        assertThat(restored.reset().sameValues(saving)).isTrue();
        assertThatExceptionOfType(MalformedDataException.class)
                .isThrownBy(() -> saving.restored(shared.asSlice(0, 1 + 20)));
    }

    @Test
    void shouldAcceptThresholds() throws Exception {
        MemorySegment list = Golden.bytes("00000000 5c02 001c" + "00".repeat(12)
                + "80 01 0000 00000010" + "81 02 0000 00000100");
        ModePages changed = DISK.change(
                new ModeSelect(CdbForm.CDB6, true, false, false, (int) list.byteSize()), list,
                BLOCKS);
        var page = (ProvisioningModePage) changed.current(0x1c, 2).orElseThrow();
        assertThat(page.thresholds()).containsExactly(
                new ProvisioningModePage.Threshold(true,
                        ProvisioningModePage.Resource.AVAILABLE, 16),
                new ProvisioningModePage.Threshold(true, ProvisioningModePage.Resource.USED, 256));

        MemorySegment single = Golden.bytes("00000000 5c02 001c 01" + "00".repeat(11)
                + "80 01 0000 00000010" + "81 02 0000 00000100");
        assertThatExceptionOfType(IllegalRequestException.class).as("SITUA is not obeyed")
                .isThrownBy(() -> DISK.change(new ModeSelect(CdbForm.CDB6, true, false, false,
                        (int) single.byteSize()), single, BLOCKS));
    }

    @Test
    void shouldDecodeWhatItEncodedInEveryForm() throws Exception {
        var parameters = new ModeParameters(1, 0x90,
                Optional.of(new ModeParameters.Blocks(1000, 512)),
                List.of(CachingModePage.of(true), new OtherModePage(0x0a, 1, true,
                        Bytes.of(new byte[300])),
                        new OtherModePage(2, 0, true, Bytes.ofHex("0102"))));
        assertThat(ModeParameters.decodeSense(CdbForm.CDB10,
                bytes(parameters.sense(CdbForm.CDB10, true)))).isEqualTo(parameters);
        assertThat(ModeParameters.decodeSense(CdbForm.CDB10,
                bytes(parameters.sense(CdbForm.CDB10, false)))).isEqualTo(parameters);
        assertThat(ModeParameters.decodeSelect(CdbForm.CDB10,
                bytes(parameters.select(CdbForm.CDB10)))).isEqualTo(parameters);
        assertThat(ModeParameters.decodeSelect(CdbForm.CDB6,
                bytes(parameters.select(CdbForm.CDB6)))).isEqualTo(parameters);
    }

    @Test
    void shouldSurviveMutatedBytes() {
        var random = new Random(SEED);
        byte[] seed = Bytes.ofHex("00000008 0000000000001000" + CONTROL + "4a010003010203")
                .toArray();
        for (int i = 0; i < 100_000; i++) {
            byte[] bytes = Arrays.copyOf(seed, random.nextInt(seed.length + 4));
            for (int n = random.nextInt(6); n > 0 && bytes.length > 0; n--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            CdbForm form = i % 2 == 0 ? CdbForm.CDB6 : CdbForm.CDB10;
            try {
                ModeParameters.decodeSense(form, MemorySegment.ofArray(bytes));
                DISK.change(new ModeSelect(form, true, false, false, bytes.length),
                        MemorySegment.ofArray(bytes), BLOCKS);
            } catch (ScsiException e) {
                assertThat(e.getMessage()).isNotEmpty();
            } catch (RuntimeException e) {
                throw new AssertionError("seed " + SEED + ", " + i + ": " + Bytes.of(bytes), e);
            }
        }
    }

    private static ModeParameters sense(CdbForm form, boolean longLba, PageControl control,
            int page, int subpage) throws ScsiException {
        var cdb = new ModeSense(form, longLba, false, control, page, subpage, 255);
        return ModeParameters.decodeSense(form,
                bytes(DISK.answer(cdb, ModeParameters.DPO_FUA, BLOCKS)));
    }

    private static ModePages select(String hex) throws IllegalRequestException {
        MemorySegment list = Golden.bytes(hex);
        return DISK.change(
                new ModeSelect(CdbForm.CDB6, true, false, false, (int) list.byteSize()), list,
                BLOCKS);
    }

    private static MemorySegment bytes(ParameterData data) {
        return MemorySegment.ofArray(data.bytes());
    }
}
