package lunar.scsi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.Stream;
import lunar.scsi.SenseSpecific.FieldPointer;
import lunar.scsi.SenseSpecific.Progress;
import lunar.scsi.SenseSpecific.RetryCount;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class SenseTest {
    private static final long SEED = Long.getLong("lunar.seed", 20260103);

    static Stream<Golden> golden() { return Golden.all().filter(it -> it.sense().byteSize() > 0); }

    @ParameterizedTest
    @MethodSource("golden")
    void shouldReadAndWriteTheSenseDataOfRealTargets(Golden golden) {
        Sense sense = Sense.decode(golden.sense());
        assertThat(sense.key()).isIn(SenseKey.ILLEGAL_REQUEST, SenseKey.UNIT_ATTENTION);
        assertThat(Bytes.of(sense.encodeFixed()))
                .isEqualTo(Bytes.of(golden.sense().asSlice(0, 18)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "f0 00 03 00 00 10 00 0a 00000000 1100 00 000000 | MEDIUM ERROR 11h/00h unrecovered read error, information 4096",
            "70 00 05 00 00 00 00 0a 00000000 2400 00 cf0002 | ILLEGAL REQUEST 24h/00h invalid field in CDB, CDB byte 2 bit 7",
            "70 00 05 00 00 00 00 0a 00000000 2600 00 800004 | ILLEGAL REQUEST 26h/00h invalid field in parameter list, parameter list byte 4",
            "70 00 02 00 00 00 00 0a 00000000 0404 00 808000 | NOT READY 04h/04h logical unit not ready, format in progress, 50% done",
            "71 00 03 00 00 00 00 0a 00000000 0c00 00 000000 | MEDIUM ERROR 0Ch/00h write error, deferred",
            "72 0e 1d 00 00 00 00 0c 000a 8000 0000000100000000 | MISCOMPARE 1Dh/00h miscompare during verify operation, information 4294967296",
            "72 0b 4e 00 00 00 00 00 | ABORTED COMMAND 4Eh/00h overlapped commands attempted",
            "73 01 17 01 00 00 00 08 0206 0000 800003 00 | RECOVERED ERROR 17h/01h recovered data with retries, 3 retries, deferred",
            "72 05 24 00 00 00 00 20 0d1e 8000 c80001 00 0000000000000005 0000000000000006 000000000000000000 | ILLEGAL REQUEST 24h/00h invalid field in CDB, information 5, command specific 6, CDB byte 1 bit 0",
            "70 00 06 | UNIT ATTENTION 00h/00h no additional sense information",
            "f0 00 03 00 | MEDIUM ERROR 00h/00h no additional sense information",
            "72 03 | MEDIUM ERROR 00h/00h no additional sense information",
            "70 00 03 00000000 04 00000000 1100 | MEDIUM ERROR 00h/00h no additional sense information",
            "72 03 11 00 00 00 00 ff 00 0a 80 00 | MEDIUM ERROR 11h/00h unrecovered read error",
            "70 00 09 00000000 0a 00000000 8001 00 000000 | VENDOR SPECIFIC 80h/01h vendor specific",
            "70 00 03 00000000 0a 00000000 1107 00 000000 | MEDIUM ERROR 11h/07h unrecovered read error (qualified)",
            "70 00 03 00000000 0a 00000000 5a03 00 000000 | MEDIUM ERROR 5Ah/03h unknown additional sense",
            "7f 00 03 | NO SENSE 00h/00h no additional sense information",
            "'' | NO SENSE 00h/00h no additional sense information"})
    void shouldReportAvailableItems(String hex, String text) {
        assertThat(Sense.decode(Golden.bytes(hex))).hasToString(text);
    }

    @Test
    void shouldDecodeWhatItEncodedInDescriptorFormat() {
        var random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            Sense sense = random(random, false);
            assertThat(Sense.decode(MemorySegment.ofArray(sense.encodeDescriptor())))
                    .as("seed %d, %d", SEED, i).isEqualTo(sense);
            assertThat(sense.encode(true)).isEqualTo(sense.encodeDescriptor());
        }
    }

    @Test
    void shouldDecodeWhatItEncodedInFixedFormat() {
        var random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            Sense sense = random(random, true);
            assertThat(Sense.decode(MemorySegment.ofArray(sense.encodeFixed())))
                    .as("seed %d, %d", SEED, i).isEqualTo(sense);
            assertThat(sense.encode(false)).isEqualTo(sense.encodeFixed());
        }
    }

    @Test
    void shouldOmitInformationThatDoesNotFitFixedFormat() {
        Sense sense = Sense.of(SenseKey.MEDIUM_ERROR, AdditionalSense.UNRECOVERED_READ_ERROR);
        byte[] fixed = sense.withInformation(1L << 32).withCommandSpecific(-1).encodeFixed();
        assertThat(Sense.decode(MemorySegment.ofArray(fixed))).isEqualTo(sense);
    }

    @Test
    void shouldKeepDescriptorsOfDeviceTypesInTheirOrder() {
        MemorySegment bytes = Golden.bytes(
                "72 05 24 00 00 00 00 14 0604 0102 0304 0206 0000 c00018 00 0802 ffff 0600");
        Sense sense = Sense.decode(bytes);
        assertThat(sense.descriptors()).containsExactly(
                new SenseDescriptor(0x06, Bytes.ofHex("01020304")),
                new SenseDescriptor(0x08, Bytes.ofHex("ffff")),
                new SenseDescriptor(0x06, Bytes.EMPTY));
        assertThat(sense.descriptor(0x06)).contains(sense.descriptors().getFirst());
        assertThat(sense.descriptor(0x07)).isEmpty();
        assertThat(sense).hasToString("ILLEGAL REQUEST 24h/00h invalid field in CDB, CDB byte 24,"
                + " descriptor 06h, descriptor 08h, descriptor 06h");
        assertThat(Sense.decode(MemorySegment.ofArray(sense.encodeFixed())))
                .isEqualTo(Sense.invalidFieldInCdb(24));
    }

    /** Byte 14 in fixed format; a descriptor of type 03h in the other (SPC-5 section 4.5.2.5). */
    @Test
    void shouldNameTheWriteCacheAsTheUnitThatHasLostWrites() {
        Sense sense = Sense.lostWrites();
        assertThat(sense.encodeFixed()).isEqualTo(
                Golden.bytes("70 00 03 00000000 0a 00000000 0c00 c0 000000")
                        .toArray(ValueLayout.JAVA_BYTE));
        assertThat(sense.encodeDescriptor()).isEqualTo(
                Golden.bytes("72 03 0c 00 00 00 00 04 0302 00 c0")
                        .toArray(ValueLayout.JAVA_BYTE));
        for (boolean descriptor : new boolean[]{false, true}) {
            assertThat(Sense.decode(MemorySegment.ofArray(sense.encode(descriptor))))
                    .isEqualTo(sense).matches(Sense::isLostWrites);
        }
        assertThat(Sense.of(SenseKey.MEDIUM_ERROR, AdditionalSense.WRITE_ERROR))
                .matches(plain -> !plain.isLostWrites());
        assertThat(Sense.decode(Golden.bytes("72 03 0c 00 00 00 00 02 0300")))
                .as("cut").matches(cut -> !cut.isLostWrites());
    }

    @Test
    void shouldOmitDescriptorsThatDoNotFit() {
        var large = new SenseDescriptor(0x80,
                Bytes.of(new byte[SenseDescriptor.MAX_CONTENT - 8]));
        var small = new SenseDescriptor(0x81, Bytes.ofHex("0102030405"));
        Sense sense = Sense.NONE.withDescriptor(large).withDescriptor(large).withDescriptor(small);
        byte[] bytes = sense.encodeDescriptor();
        assertThat(bytes).hasSizeLessThanOrEqualTo(252);
        assertThat(Sense.decode(MemorySegment.ofArray(bytes)).descriptors())
                .containsExactly(large, small);
    }

    @ParameterizedTest
    @CsvSource({"0x00", "0x01", "0x02", "0x0d", "0x100", "-1"})
    void shouldRefuseDescriptorsThatSenseDecodesItself(String type) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SenseDescriptor(Integer.decode(type), Bytes.EMPTY));
    }

    @Test
    void shouldSurviveRandomAndCutBytes() {
        var random = new Random(SEED);
        int[] responses = {0x70, 0x71, 0x72, 0x73, 0xf0, 0xf2};
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            if (bytes.length > 0 && i % 8 != 0) {
                bytes[0] = (byte) responses[i % responses.length];
            }
            assertThatCode(() -> Sense.decode(MemorySegment.ofArray(bytes)).toString())
                    .as("seed %d, %d", SEED, i).doesNotThrowAnyException();
        }
    }

    @Test
    void shouldHaveEveryStatusUnderItsCode() {
        for (Status status : Status.values()) {
            assertThat(Status.of(status.code())).contains(status);
        }
        assertThat(Status.of(0x01)).isEmpty();
        assertThat(Status.CHECK_CONDITION).hasToString("CHECK CONDITION");
    }

    private static OptionalInt randomBit(Random random) {
        int bit = random.nextInt(9);
        return bit < 8 ? OptionalInt.of(bit) : OptionalInt.empty();
    }

    private static Sense random(Random random, boolean fixed) {
        SenseKey key = SenseKey.of(random.nextInt(16));
        var additional = new AdditionalSense(random.nextInt(256), random.nextInt(256));
        Optional<SenseSpecific> specific = !random.nextBoolean()
                ? Optional.empty()
                : switch (key) {
                    case ILLEGAL_REQUEST -> Optional.of(new FieldPointer(random.nextBoolean(),
                            random.nextInt(65536), randomBit(random)));
                    case NO_SENSE, NOT_READY -> Optional.of(new Progress(random.nextInt(65536)));
                    case RECOVERED_ERROR, MEDIUM_ERROR, HARDWARE_ERROR -> Optional.of(
                            new RetryCount(random.nextInt(65536)));
                    default -> Optional.empty();
                };
        long mask = fixed ? 0xffff_ffffL : -1L;
        OptionalLong information = random.nextBoolean()
                ? OptionalLong.empty()
                : OptionalLong.of(random.nextLong() & mask);
        OptionalLong command = random.nextBoolean()
                ? OptionalLong.empty()
                : OptionalLong.of(random.nextLong() & mask | 1);
        return new Sense(key, additional, random.nextBoolean(), information, command, specific,
                fixed ? List.of() : descriptors(random));
    }

    private static List<SenseDescriptor> descriptors(Random random) {
        var descriptors = new ArrayList<SenseDescriptor>();
        for (int i = random.nextInt(3); i > 0; i--) {
            byte[] content = new byte[random.nextInt(64)];
            random.nextBytes(content);
            descriptors.add(new SenseDescriptor(3 + random.nextInt(10), Bytes.of(content)));
        }
        return descriptors;
    }
}
