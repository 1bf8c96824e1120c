package lunar.initiator.internal.retry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import lunar.block.AbortedException;
import lunar.block.BusyException;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.MiscompareException;
import lunar.block.NoSpaceException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.ReservationConflictException;
import lunar.block.WriteProtectedException;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SenseMappingTest {
    private static final int CHECK = Status.CHECK_CONDITION.code();

    private static Bytes sense(SenseKey key, AdditionalSense additional) {
        return Bytes.of(Sense.of(key, additional).encodeFixed());
    }

    static Stream<Arguments> senses() {
        return Stream.of(
                Arguments.of(SenseKey.MEDIUM_ERROR, AdditionalSense.UNRECOVERED_READ_ERROR,
                        MediumException.class),
                Arguments.of(SenseKey.HARDWARE_ERROR, AdditionalSense.INTERNAL_TARGET_FAILURE,
                        MediumException.class),
                Arguments.of(SenseKey.NOT_READY, AdditionalSense.BECOMING_READY,
                        BusyException.class),
                Arguments.of(SenseKey.NOT_READY,
                        AdditionalSense.ASYMMETRIC_ACCESS_STATE_TRANSITION, BusyException.class),
                Arguments.of(SenseKey.NOT_READY, AdditionalSense.TARGET_PORT_IN_STANDBY_STATE,
                        DeviceGoneException.class),
                Arguments.of(SenseKey.NOT_READY, AdditionalSense.MEDIUM_NOT_PRESENT,
                        DeviceGoneException.class),
                Arguments.of(SenseKey.ILLEGAL_REQUEST,
                        AdditionalSense.INVALID_COMMAND_OPERATION_CODE,
                        NotSupportedException.class),
                Arguments.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.LBA_OUT_OF_RANGE,
                        OutOfRangeException.class),
                Arguments.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.LOGICAL_UNIT_NOT_SUPPORTED,
                        DeviceGoneException.class),
                Arguments.of(SenseKey.ILLEGAL_REQUEST, AdditionalSense.INVALID_FIELD_IN_CDB,
                        InvalidRequestException.class),
                Arguments.of(SenseKey.DATA_PROTECT, AdditionalSense.WRITE_PROTECTED,
                        WriteProtectedException.class),
                Arguments.of(SenseKey.DATA_PROTECT, AdditionalSense.SPACE_ALLOCATION_FAILED,
                        NoSpaceException.class),
                Arguments.of(SenseKey.ABORTED_COMMAND, AdditionalSense.NONE,
                        AbortedException.class),
                Arguments.of(SenseKey.UNIT_ATTENTION, AdditionalSense.RESET_OCCURRED,
                        AbortedException.class));
    }

    @ParameterizedTest
    @MethodSource("senses")
    void shouldMapSense(SenseKey key, AdditionalSense additional, Class<?> expected) {
        Bytes sense = sense(key, additional);
        assertThat(SenseMapping.isSuccess(CHECK, sense)).isFalse();
        assertThat(SenseMapping.failure(CHECK, sense, "READ"))
                .isInstanceOf(expected).hasMessageContaining("READ: " + key);
    }

    @Test
    void shouldReportWhereDataMiscompare() {
        Bytes sense = Bytes.of(Sense.of(SenseKey.MISCOMPARE,
                AdditionalSense.MISCOMPARE_DURING_VERIFY).withInformation(513).encodeFixed());
        assertThat(SenseMapping.failure(CHECK, sense, "x")).isInstanceOfSatisfying(
                MiscompareException.class, e -> assertThat(e.offsetBytes()).isEqualTo(513));
    }

    @ParameterizedTest
    @EnumSource(value = SenseKey.class, names = {"NO_SENSE", "RECOVERED_ERROR", "COMPLETED"})
    void shouldTreatWarningsAsSuccess(SenseKey key) {
        assertThat(SenseMapping.isSuccess(CHECK, sense(key, AdditionalSense.NONE))).isTrue();
    }

    @ParameterizedTest
    @EnumSource(SenseKey.class)
    void shouldHandleEverySenseKey(SenseKey key) {
        assertThat(SenseMapping.failure(CHECK, sense(key, AdditionalSense.NONE), "x"))
                .hasMessageStartingWith("x: ");
    }

    static Stream<Arguments> statuses() {
        return Stream.of(Arguments.of(0x08, BusyException.class),
                Arguments.of(0x28, BusyException.class), Arguments.of(0x30, BusyException.class),
                Arguments.of(0x18, ReservationConflictException.class),
                Arguments.of(0x40, AbortedException.class),
                Arguments.of(0x02, AbortedException.class), // without sense data
                Arguments.of(0xff, AbortedException.class)); // no status at all
    }

    @ParameterizedTest
    @MethodSource("statuses")
    void shouldMapStatus(int status, Class<?> expected) {
        assertThat(SenseMapping.isSuccess(status, Bytes.EMPTY)).isFalse();
        assertThat(SenseMapping.failure(status, Bytes.EMPTY, "x")).isInstanceOf(expected);
    }

    /** Deferred errors are of earlier commands, and the one that gets them was not performed. */
    @ParameterizedTest
    @ValueSource(ints = {0x71, 0x73, 0x7f, 0x00})
    void shouldNotTreatDeferredErrorsAndUnknownSenseAsSuccess(int response) {
        byte[] sense = Sense.of(SenseKey.RECOVERED_ERROR, AdditionalSense.NONE).encodeFixed();
        if (response == 0x73) {
            sense = new byte[]{0x73, (byte) SenseKey.RECOVERED_ERROR.code(), 0, 0, 0, 0, 0, 0};
        }
        sense[0] = (byte) response;
        assertThat(SenseMapping.isSuccess(CHECK, Bytes.of(sense))).isFalse();
        assertThat(SenseMapping.isUnitAttention(CHECK, Bytes.of(sense)))
                .isEqualTo(response == 0x71 || response == 0x73);
    }
}
