package lunar.scsi.target.reservation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lunar.scsi.AdditionalSense;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.reservation.ReservationRecord.Effect;
import lunar.scsi.target.reservation.ReservationRules.Change;
import lunar.scsi.target.reservation.ReservationState.Held;
import org.junit.jupiter.api.Test;

/** Tests the saved format of reservations, for one server and for several. */
class ReservationFormatTest {
    private static final Registrant ONE = new Registrant("a,i,0x000000000001", "t", 1);
    private static final Registrant TWO = new Registrant("b,i,0x000000000002", "t", 2);

    private static final String OF_ONE_SERVER = "02" // version
            + "0000000000000007" // generation
            + "00000002" // registrations
            + "0000000000001111" + "0001" + "0012" + hex("a,i,0x000000000001") + "0001" + hex("t")
            + "0000000000002222" + "0002" + "0012" + hex("b,i,0x000000000002") + "0001" + hex("t")
            + "05" + "00000001"; // WRITE EXCLUSIVE, REGISTRANTS ONLY by the second

    private static final String OF_SEVERAL = "03" + OF_ONE_SERVER.substring(2)
            + "00" // ends with a loss of power
            + "0000000000000009" // changes
            + "0001" // of which one is kept
            + "0000000000000009" + "0001"
            + "0001" + "0012" + hex("a,i,0x000000000001") + "0001" + hex("t")
            + "2a05" + "01"; // REGISTRATIONS PREEMPTED, aborted

    private static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    private static byte[] bytes(String hex) { return HexFormat.of().parseHex(hex); }

    private static ReservationState state(boolean persistent) {
        var keys = new LinkedHashMap<Registrant, Long>();
        keys.put(ONE, 0x1111L);
        keys.put(TWO, 0x2222L);
        return new ReservationState(7, keys, Optional.of(
                new Held(TWO, ReservationType.WRITE_EXCLUSIVE_REGISTRANTS_ONLY)), persistent);
    }

    private static ReservationRecord shared() {
        return new ReservationRecord(state(false), 9, List.of(new Effect(9,
                Map.of(ONE, AdditionalSense.REGISTRATIONS_PREEMPTED), Set.of(ONE))));
    }

    @Test
    void shouldEncodeReservationsOfOneServer() throws Exception {
        assertThat(ReservationFormat.encode(state(true))).isEqualTo(bytes(OF_ONE_SERVER));
        assertThat(ReservationFormat.decode(bytes(OF_ONE_SERVER), "other"))
                .isEqualTo(new ReservationRecord(state(true), 0, List.of()));
    }

    @Test
    void shouldEncodeReservationsOfSeveralServers() throws Exception {
        assertThat(ReservationFormat.encode(shared())).isEqualTo(bytes(OF_SEVERAL));
        assertThat(ReservationFormat.decode(bytes(OF_SEVERAL), "other")).isEqualTo(shared());
    }

    @Test
    void shouldRejectTruncatedDataAndUnknownVersions() {
        byte[] whole = bytes(OF_SEVERAL);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> ReservationFormat.decode(cut, "t"))
                    .isInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> ReservationFormat.decode(bytes("04"), "t"))
                .hasMessageContaining("version 4");
    }

    @Test
    void shouldReportEachChangeOnceAndTreatDroppedOnesAsPreemptions() {
        ReservationRecord before = shared();
        ReservationRecord after = before;
        for (int i = 0; i < ReservationRecord.MAX_KEPT; i++) {
            after = after.after(new Change(state(false),
                    Map.of(TWO, AdditionalSense.RESERVATIONS_RELEASED), Set.of()));
        }
        assertThat(after.last()).hasSize(ReservationRecord.MAX_KEPT);
        assertThat(after.since(before)).isEqualTo(new Effect(after.changes(),
                Map.of(TWO, AdditionalSense.RESERVATIONS_RELEASED), Set.of()));
        assertThat(after.since(after).attentions()).isEmpty();

        ReservationRecord without = after.after(Change.to(after.state()
                .registering(Map.of(TWO, 0x2222L))));
        Effect missed = without.since(before); // the first change since then is no longer kept
        assertThat(missed.attentions()).containsEntry(ONE, AdditionalSense.REGISTRATIONS_PREEMPTED);
        assertThat(missed.aborted()).containsExactly(ONE);
        assertThat(without.since(after).attentions()).isEmpty();
    }
}
