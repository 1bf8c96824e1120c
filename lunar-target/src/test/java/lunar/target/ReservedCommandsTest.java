package lunar.target;

import static lunar.target.RawInitiator.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import lunar.scsi.Status;
import lunar.scsi.reservation.PersistentReserveOut;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.reservation.ReserveOutParameters;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which commands conflict with the reservation of another nexus (SPC-5 section 5.13.1, SBC-4 section 4.17). */
class ReservedCommandsTest {
    private static final long KEY = 7;

    private static void reserve(RawInitiator holder, ReservationType type) throws Exception {
        holder.commandOut(new PersistentReserveOut(PersistentReserveOut.REGISTER, 0, 0, 24).bytes(),
                new ReserveOutParameters(0, KEY, false, false, false, List.of()).bytes());
        assertThat(holder.commandOut(new PersistentReserveOut(PersistentReserveOut.RESERVE, 0,
                type.code(), 24).bytes(), ReserveOutParameters.of(KEY, 0).bytes()).status())
                .isEqualTo(Status.GOOD);
    }

    /** Whether a command passes beside Write Exclusive and beside Exclusive Access. */
    @ParameterizedTest
    @CsvSource({
            "TEST UNIT READY,         000000000000,                     true,  true",
            "REQUEST SENSE,           030000000000,                     true,  true",
            "INQUIRY,                 120000000000,                     true,  true",
            "LOG SENSE,               4d000000000000000000,             true,  true",
            "READ CAPACITY(10),       25000000000000000000,             true,  true",
            "READ CAPACITY(16),       9e100000000000000000000000000000, true,  true",
            "REPORT TARGET PORT GR.,  a30a00000000000000000000,         true,  true",
            "REPORT TIMESTAMP,        a30f00000000000000000000,         true,  true",
            "PREVENT with 0,          1e0000000000,                     true,  true",
            "START STOP UNIT START,   1b0000000100,                     true,  true",
            "MODE SENSE(6),           1a083f000000,                     true,  false",
            "MODE SENSE(10),          5a083f00000000000000,             true,  false",
            "READ BUFFER,             3c030000000000000000,             true,  false",
            "RECEIVE DIAGNOSTIC RES., 1c0000000000,                     true,  false",
            "REPORT SUPPORTED OPC.,   a30c00000000000000000000,         true,  false",
            "REPORT SUPPORTED TMF,    a30d00000000000000000000,         true,  false",
            "READ(10),                28000000000000000000,             true,  false",
            "VERIFY(10),              2f000000000000000000,             true,  false",
            "PRE-FETCH(10),           34000000000000000100,             true,  false",
            "GET LBA STATUS,          9e120000000000000000000000000000, true,  false",
            "READ DEFECT DATA(10),    37000000000000000000,             true,  false",
            "PREVENT with 1,          1e0000000100,                     false, false",
            "START STOP UNIT stop,    1b0000000000,                     false, false",
            "START with a power cond, 1b0000001100,                     false, false",
            "WRITE(10),               2a000000000000000000,             false, false",
            "SYNCHRONIZE CACHE(10),   35000000000000000000,             false, false",
            "MODE SELECT(6),          151000000000,                     false, false",
            "LOG SELECT,              4c000000000000000000,             false, false",
            "SEND DIAGNOSTIC,         1d0000000000,                     false, false",
            "WRITE BUFFER,            3b020000000000000000,             false, false",
            "FORMAT UNIT,             040000000000,                     false, false",
            "SANITIZE,                48020000000000000000,             false, false",
            "SET TARGET PORT GROUPS,  a40a00000000000000000000,         false, false"})
    void shouldPermitCommandsOfTheStandardsTables(String name, String cdb,
            boolean besideWriteExclusive,
            boolean besideExclusiveAccess) throws Exception {
        for (ReservationType type : List.of(ReservationType.WRITE_EXCLUSIVE,
                ReservationType.EXCLUSIVE_ACCESS)) {
            try (var target = new TargetFixture();
                    var holder = target.ready(1);
                    var other = target.ready(2)) {
                reserve(holder, type);
                RawInitiator.Received answer = other.command(bytes(cdb), 0);
                boolean passes = type == ReservationType.WRITE_EXCLUSIVE
                        ? besideWriteExclusive
                        : besideExclusiveAccess;
                if (passes) {
                    assertThat(answer.status()).as("%s beside %s", name, type)
                            .isNotEqualTo(Status.RESERVATION_CONFLICT);
                } else {
                    assertThat(answer.status()).as("%s beside %s", name, type)
                            .isEqualTo(Status.RESERVATION_CONFLICT);
                }
            }
        }
    }

    private static void register(RawInitiator sender, long key) throws Exception {
        assertThat(
                sender.commandOut(new PersistentReserveOut(PersistentReserveOut.REGISTER, 0, 0, 24)
                        .bytes(), ReserveOutParameters.of(0, key).bytes()).status())
                .isEqualTo(Status.GOOD);
    }

    /** Registrants that are let in by neither type hear of the change too (SPC-5 section 5.13.11.2.6). */
    @ParameterizedTest
    @CsvSource({"WRITE_EXCLUSIVE, EXCLUSIVE_ACCESS, 062a04", "WRITE_EXCLUSIVE, WRITE_EXCLUSIVE, 0",
            "WRITE_EXCLUSIVE_REGISTRANTS_ONLY, WRITE_EXCLUSIVE, 062a04"})
    void shouldReportAChangedTypeToOtherRegistrants(ReservationType before, ReservationType after,
            String told) throws Exception {
        try (var target = new TargetFixture();
                var holder = target.ready(1);
                var other = target.ready(2);
                var preemptor = target.ready(3)) {
            reserve(holder, before);
            register(other, 2);
            register(preemptor, 3);
            assertThat(preemptor.commandOut(new PersistentReserveOut(PersistentReserveOut.PREEMPT,
                    0, after.code(), 24).bytes(), ReserveOutParameters.of(3, KEY).bytes())
                    .status()).isEqualTo(Status.GOOD);
            assertThat(holder.command(new byte[6], 0).sense()).isEqualTo(0x06_2a_05);
            assertThat(other.command(new byte[6], 0).sense())
                    .isEqualTo(Integer.parseInt(told, 16));
            assertThat(preemptor.command(new byte[6], 0).sense()).isZero();
        }
    }
}
