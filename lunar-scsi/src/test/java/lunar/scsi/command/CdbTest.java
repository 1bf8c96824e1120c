package lunar.scsi.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.File;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Cdb;
import lunar.scsi.CdbForm;
import lunar.scsi.Golden;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific.FieldPointer;
import lunar.scsi.StandardCdb;
import lunar.scsi.block.ReadBlocks;
import lunar.scsi.block.SynchronizeCache;
import lunar.scsi.block.Unmap;
import lunar.scsi.block.VerifyBlocks;
import lunar.scsi.block.WriteBlocks;
import lunar.scsi.block.WriteSame;
import lunar.scsi.vpd.Inquiry;
import lunar.scsi.wire.BigEndian;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class CdbTest {
    private static final long SEED = Long.getLong("lunar.seed", 20260101);

    static Stream<Golden> golden() {
        return Golden.all().filter(it -> BigEndian.int8(it.cdb(), 0) != 0x7f);
    }

    @ParameterizedTest
    @MethodSource("golden")
    void shouldReadAndWriteWhatRealInitiatorsSend(Golden golden) throws Exception {
        Cdb cdb = CdbDecoder.decode(golden.cdb());
        byte[] field = new byte[Cdb.MAX_LENGTH];
        cdb.encode(MemorySegment.ofArray(field));
        assertThat(Bytes.of(field)).isEqualTo(Bytes.of(golden.cdb()));
        assertThat(cdb.opcode()).isEqualTo(golden.cdb().get(ValueLayout.JAVA_BYTE,
                0) & 0xff);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"000000000000 | TestUnitReady[]",
            "120183004c00 | Inquiry[evpd=true, page=131, allocationLength=76]",
            "2a080000006400000200 | WRITE(10) lba=100 blocks=2 fua",
            "080000100000 | READ(6) lba=16 blocks=256",
            "081fffff0100 | READ(6) lba=2097151 blocks=1",
            "8800000000010000000000000010 0000 | READ(16) lba=4294967296 blocks=16",
            "a80000000001000000020000 | READ(12) lba=1 blocks=2",
            "9e120000000000000007000000180000 | GetLbaStatus[lba=7, allocationLength=24, reportType=0]",
            "89000000000000000009000000010000 | CompareAndWrite[lba=9, blockCount=1, protect=0, dpo=false, fua=false, group=0]",
            "93090000000000000000000000640000 | WRITE SAME(16) lba=0 blocks=100 unmap ndob",
            "42000000000000001800 | Unmap[anchor=false, group=0, parameterListLength=24]",
            "a30c01120000000000 0a0000 | ReportSupportedOperationCodes[rctd=false, reportingOptions=1, requestedOpcode=18, requestedServiceAction=0, allocationLength=10]",
            "8b0000000000000000090000000200 0000 | OrWrite[lba=9, blockCount=2, protect=0, dpo=false, fua=false, group=0]",
            "9c08 0000000000000009 0004 0002 0000 | WriteAtomic[lba=9, blockCount=2, boundaryBlocks=4, protect=0, dpo=false, fua=true, group=0]",
            "48a100000000000204 00 | Sanitize[serviceAction=1, immediate=true, zoneNoReset=false, unrestrictedExit=true, parameterListLength=516]",
            "041000000000 | FormatUnit[protectionInformation=0, longList=false, parameterList=true, completeList=false, defectListFormat=0, fastFormat=0]",
            "37001d00000000002000 | ReadDefectData[form=CDB10, primaryList=true, grownList=true, listFormat=5, firstIndex=0, allocationLength=32]",
            "8301 0000000000000000 00000058 0000 | ExtendedCopy[longIdentifier=true, parameterListLength=88]",
            "8310 00000000 00000007 00000020 0000 | PopulateToken[listIdentifier=7, parameterListLength=32, group=0]",
            "8311 00000000 00000007 00000228 0300 | WriteUsingToken[listIdentifier=7, parameterListLength=552, group=3]",
            "831c 00000007 00000000 00000000 0000 | CopyOperationAbort[listIdentifier=7]",
            "8400 07 00000000000000 0000000c 0000 | ReceiveCopyResults[serviceAction=0, listIdentifier=7, allocationLength=12]",
            "8407 01020304 00000000 00000400 0000 | ReceiveCopyResults[serviceAction=7, listIdentifier=16909060, allocationLength=1024]",
            "1b0000000200 | StartStopUnit[immediate=false, powerConditionModifier=0, powerCondition=0, noFlush=false, loadEject=true, start=false]",
            "4d014d0200000300fc00 | LogSense[savePages=true, control=1, page=13, subpage=2, parameterPointer=3, allocationLength=252]",
            "4c03c0000000000010 00 | LogSelect[reset=true, savePages=true, control=3, page=0, subpage=0, parameterListLength=16]",
            "3c2a0100000200010000 | ReadBuffer[modeSpecific=1, mode=10, buffer=1, offset=2, allocationLength=256]",
            "3b020000001000020000 | WriteBuffer[modeSpecific=0, mode=2, buffer=0, offset=16, parameterListLength=512]",
            "1db700000400 | SendDiagnostic[selfTestCode=5, pageFormat=true, selfTest=true, deviceOffline=true, unitOffline=true, parameterListLength=4]",
            "1c0100010000 | ReceiveDiagnosticResults[pageValid=true, page=0, allocationLength=256]",
            "a40a0000000000000008 0000 | SetTargetPortGroups[parameterListLength=8]",
            "a3050000000000000100 0400 | ReportIdentifyingInformation[allocationLength=256, type=2]",
            "a4060000000000000010 0000 | SetIdentifyingInformation[parameterListLength=16, type=0]",
            "a30f0000000000000010 0000 | ReportTimestamp[allocationLength=16]",
            "a40f000000000000000c 0000 | SetTimestamp[parameterListLength=12]",
            "5f01050000000000 1800 | PersistentReserveOut[serviceAction=1, scope=0, type=5, parameterListLength=24]"})
    void shouldReadFieldsWhereTheStandardHasThem(String hex, String text) throws Exception {
        assertThat(CdbDecoder.decode(Golden.bytes(hex))).hasToString(text);
    }

    @Test
    void shouldDecodeWhatItEncoded() throws Exception {
        var random = new Random(SEED);
        var cdbs = new RandomCdbs(random);
        for (int i = 0; i < 32_000; i++) {
            Cdb cdb = cdbs.next(i % RandomCdbs.KINDS);
            assertThat(CdbDecoder.decode(MemorySegment.ofArray(cdb.bytes())))
                    .as("seed %d, %d", SEED, i)
                    .isEqualTo(cdb);
        }
    }

    @Test
    void shouldWriteNothingBehindTheCdb() {
        var cdbs = new RandomCdbs(new Random(SEED));
        for (int kind = 0; kind < RandomCdbs.KINDS; kind++) {
            Cdb cdb = cdbs.next(kind);
            byte[] field = new byte[20];
            Arrays.fill(field, (byte) 0xee);
            cdb.encode(MemorySegment.ofArray(field));
            int length = cdb.length();
            assertThat(Bytes.of(Arrays.copyOf(field, length)))
                    .isEqualTo(Bytes.of(cdb.bytes()));
            assertThat(Arrays.copyOfRange(field, length, 20)).containsOnly(0xee);
        }
    }

    @Test
    void shouldThrowNothingButInvalidCdbForRandomBytes() {
        var random = new Random(SEED);
        int decoded = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = new byte[random.nextInt(20)];
            random.nextBytes(bytes);
            try {
                Cdb cdb = CdbDecoder.decode(MemorySegment.ofArray(bytes));
                assertThat(CdbDecoder.decode(MemorySegment.ofArray(cdb.bytes()))).isEqualTo(cdb);
                decoded++;
            } catch (InvalidCdbException e) {
                assertThat(e.sense().key()).isEqualTo(SenseKey.ILLEGAL_REQUEST);
            }
        }
        assertThat(decoded).as("seed %d", SEED).isGreaterThan(1000);
    }

    @Test
    void shouldSupportTheOperationCodeOfEveryStandardCommand() throws Exception {
        var kinds = new HashSet<Class<?>>();
        for (CommandDescriptor command : StandardCommands.ALL) {
            byte[] bytes = new byte[command.cdbLength()];
            bytes[0] = (byte) command.opcode();
            bytes[1] = (byte) command.serviceAction().orElse(0);
            Cdb cdb = CdbDecoder.decode(MemorySegment.ofArray(bytes));
            assertThat(cdb.length()).as(command.name()).isEqualTo(command.cdbLength());
            assertThat(cdb.opcode()).as(command.name()).isEqualTo(command.opcode());
            kinds.add(cdb.getClass());
        }
        assertThat(kinds).isEqualTo(standardCdbs());
    }

    /** The classes of this module that are a {@link StandardCdb}. */
    private static Set<Class<?>> standardCdbs() throws Exception {
        Path root = Path.of(
                StandardCdb.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        var found = new HashSet<Class<?>>();
        try (Stream<Path> files = Files.walk(root.resolve("lunar/scsi"))) {
            for (Path file : files.filter(it -> it.toString().endsWith(".class")).toList()) {
                String name = root.relativize(file).toString().replaceFirst("\\.class$", "")
                        .replace(File.separatorChar, '.');
                Class<?> type = Class.forName(name);
                if (StandardCdb.class.isAssignableFrom(type) && !type.isInterface()) {
                    found.add(type);
                }
            }
        }
        return found;
    }

    @ParameterizedTest
    @ValueSource(strings = {"010000000000", "3d000000000000000000", "7f000000000000180009",
            "c00000000000", "ff0000000000", "7f", "dd", "a1000000", "85"})
    void shouldRejectUnknownOperationCodes(String hex) {
        assertThatExceptionOfType(InvalidCdbException.class)
                .isThrownBy(() -> CdbDecoder.decode(Golden.bytes(hex)))
                .satisfies(e -> assertThat(e.sense()).isEqualTo(Sense.of(SenseKey.ILLEGAL_REQUEST,
                        AdditionalSense.INVALID_COMMAND_OPERATION_CODE)));
    }

    @ParameterizedTest
    @CsvSource({"000000000004, 5, 2", "28000000000000000104, 9, 2",
            "88000000000000000000000000010004, 15, 2", "a00000000000000000100004, 11, 2",
            "120200000500, 1, 1", "120001000500, 2, 7",
            "9e110000000000000000000000200000, 1, 4", "a31f00000000000000000000, 1, 4",
            "a34a00000000000000000000, 1, 7", "2f040000000000000100, 1, 2",
            "2e060000000000000100, 1, 2", "41040000000000000100, 1, 2",
            "41020000000000000100, 1, 1", "161000000000, 1, 4", "170100000000, 1, 0",
            "'', 0, -1", "2800, 2, -1", "1200, 2, -1", "0000000000, 5, -1"})
    void shouldPointAtTheFieldInError(String hex, int byteAt, int bit) {
        assertThatExceptionOfType(InvalidCdbException.class)
                .isThrownBy(() -> CdbDecoder.decode(Golden.bytes(hex)))
                .satisfies(e -> assertThat(e.sense().additional())
                        .isEqualTo(AdditionalSense.INVALID_FIELD_IN_CDB))
                .satisfies(e -> assertThat(e.sense().fieldPointer())
                        .contains(new FieldPointer(true, byteAt,
                                bit < 0 ? OptionalInt.empty() : OptionalInt.of(bit))));
    }

    @Test
    void shouldRejectOurOwnValuesThatDoNotFit() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Inquiry(false, 1, 36));
        assertThatIllegalArgumentException().isThrownBy(() -> new Inquiry(true, 0x83, 0x10000));
        assertThatIllegalArgumentException().isThrownBy(() -> new ReadBlocks(CdbForm.CDB10,
                0x1_0000_0000L, 1, 0, false, false, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new ReadBlocks(CdbForm.CDB6, 0, 0, 0, false, false, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new WriteBlocks(CdbForm.CDB6, 0, 1, 0, false, true, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new WriteSame(CdbForm.CDB12, 0, 1, 0, false, false, false, 0));
        assertThatIllegalArgumentException().isThrownBy(
                () -> new VerifyBlocks(CdbForm.CDB10, 0, 1, 0, false, 2, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> new Unmap(false, 64, 24));
    }

    @Test
    void shouldUseTheShorterFormIfTheNumbersFit() {
        assertThat(ReadBlocks.of(0xffff_ffffL, 0xffff).form()).isEqualTo(CdbForm.CDB10);
        assertThat(ReadBlocks.of(0x1_0000_0000L, 1).form()).isEqualTo(CdbForm.CDB16);
        assertThat(WriteBlocks.of(0, 0x1_0000, true).form()).isEqualTo(CdbForm.CDB16);
        assertThat(WriteBlocks.of(0, 0x1_0000, true).fua()).isTrue();
    }

    @Test
    void shouldReportTheDirectionOfData() {
        assertThat(ReadBlocks.of(0, 1).direction()).isEqualTo(Cdb.Direction.IN);
        assertThat(ReadBlocks.of(0, 0).direction()).isEqualTo(Cdb.Direction.NONE);
        assertThat(WriteBlocks.of(0, 1, false).direction()).isEqualTo(Cdb.Direction.OUT);
        assertThat(SynchronizeCache.ALL.direction()).isEqualTo(Cdb.Direction.NONE);
        assertThat(new VerifyBlocks(CdbForm.CDB10, 0, 1, 0, false, 0, 0).direction())
                .isEqualTo(Cdb.Direction.NONE);
        assertThat(new VerifyBlocks(CdbForm.CDB10, 0, 1, 0, false, 1, 0).direction())
                .isEqualTo(Cdb.Direction.OUT);
        assertThat(new WriteSame(CdbForm.CDB16, 0, 1, 0, false, false, true, 0).direction())
                .isEqualTo(Cdb.Direction.NONE);
    }
}
