package lunar.scsi.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import lunar.scsi.primary.TargetPortGroups;
import lunar.scsi.primary.TargetPortGroups.State;
import org.junit.jupiter.api.Test;

/** States of port groups as servers that share a unit save them. */
class PortGroupStatesTest {
    private static final TargetPort ONE = new TargetPort("a", 1, 1);
    private static final TargetPort TWO = new TargetPort("b", 2, 258);
    private static final byte[] SAVED = HexFormat.of().parseHex("01" + "0002" // version, groups
            + "0001" + "0001" + "02" + "01" + "0001" + "61" // standby, set by a host
            + "0002" + "0102" + "0f" + "01" + "0001" + "62"); // in transition

    private static PortGroupStates states() {
        var wanted = new LinkedHashMap<TargetPort, State>();
        wanted.put(ONE, State.STANDBY);
        wanted.put(TWO, State.TRANSITIONING);
        return PortGroupStates.NONE.with(wanted, TargetPortGroups.CHANGED_EXPLICITLY);
    }

    @Test
    void shouldSaveWhatServersShare() throws Exception {
        assertThat(states().encode()).isEqualTo(SAVED);
        assertThat(PortGroupStates.decode(SAVED)).isEqualTo(states());
        assertThat(states().allActive()).isFalse();
    }

    @Test
    void shouldRefuseWhatIsCutOffOrOfAnotherVersion() {
        for (int length = 0; length < SAVED.length; length++) {
            byte[] cut = Arrays.copyOf(SAVED, length);
            assertThatThrownBy(() -> PortGroupStates.decode(cut)).isInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> PortGroupStates.decode(new byte[]{2}))
                .hasMessageContaining("version 2");
    }

    @Test
    void shouldNameTheTargetsWhoseStatesDiffer() {
        PortGroupStates before = states();
        assertThat(before.targetsChangedSince(PortGroupStates.NONE)).containsExactlyInAnyOrder("a",
                "b");
        assertThat(before.with(Map.of(ONE, State.ACTIVE_OPTIMIZED), 2).targetsChangedSince(before))
                .containsExactly("a");
        assertThat(before.with(Map.of(ONE, State.STANDBY), 2).targetsChangedSince(before))
                .as("another status code alone").isEmpty();
        assertThat(PortGroupStates.NONE.targetsChangedSince(before)).hasSize(2);
    }
}
