package lunar.scsi.target.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import lunar.scsi.target.Blocks;
import lunar.scsi.target.UnitState;
import org.junit.jupiter.api.Test;

/** Erasures as they are saved, for one server and for several. */
class ErasureStateTest {
    private static final UUID SERVER = UUID.fromString("00112233-4455-6677-8899-aabbccddeeff");
    private static final Erasure ERASURE = Erasure.of(Erasure.Kind.BLOCK_ERASE, true);
    private static final String ALONE = "01" + "02" + "01";
    private static final String SHARED = "02" + "00112233445566778899aabbccddeeff" + ALONE;

    private static UnitState.Format<ErasureState> format(boolean shared) {
        return ErasureState.format(shared, new Blocks());
    }

    private static byte[] bytes(String hex) { return HexFormat.of().parseHex(hex); }

    @Test
    void shouldSaveWhatOneServerKeeps() throws Exception {
        var state = new ErasureState(Optional.of(ERASURE), Optional.of(SERVER));
        assertThat(format(false).encode(state)).isEqualTo(bytes(ALONE));
        assertThat(format(false).encode(ErasureState.NONE)).isEmpty();
        assertThat(format(false).decode(bytes(ALONE)))
                .isEqualTo(new ErasureState(Optional.of(ERASURE), Optional.empty()));
    }

    @Test
    void shouldSaveWhichServerErases() throws Exception {
        var state = new ErasureState(Optional.of(ERASURE), Optional.of(SERVER));
        assertThat(format(true).encode(state)).isEqualTo(bytes(SHARED));
        assertThat(format(true).decode(bytes(SHARED))).isEqualTo(state);
        assertThat(format(true).decode(bytes(ALONE)).server()).as("saved before").isEmpty();
        assertThat(state.isOf(SERVER)).isTrue();
        assertThat(state.goesOn()).isTrue();
    }

    @Test
    void shouldRefuseWhatIsCutOff() {
        for (int length = 2; length < SHARED.length(); length += 2) {
            byte[] cut = bytes(SHARED.substring(0, length));
            assertThatThrownBy(() -> format(true).decode(cut)).isInstanceOf(IOException.class)
                    .hasMessageContaining("erasure");
        }
    }
}
