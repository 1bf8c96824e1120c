package lunar.scsi.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests changes of a state that meet. */
@Timeout(600)
class UnitStateTest {
    /** One number that is saved, and one that is not. */
    private record Numbers(int saved, int unsaved) {}

    private static final UnitState.Format<Numbers> FORMAT = new UnitState.Format<>() {
        @Override
        public byte[] encode(Numbers state) { return new byte[]{(byte) state.saved()}; }

        @Override
        public Numbers decode(byte[] saved) { return new Numbers(saved[0], 0); }
    };

    /** Store in memory that lets something happen on a thread of its own whenever it saves. */
    private static final class DisturbedStore implements StateStore {
        private final StateStore below = StateStore.inMemory();
        private final List<Thread> disturbing = new ArrayList<>();
        private Runnable disturbance = () -> {};

        @Override
        public Optional<byte[]> load(String name) throws IOException { return below.load(name); }

        @Override
        public void save(String name, byte[] state) throws IOException {
            var thread = new Thread(disturbance);
            disturbing.add(thread);
            thread.start();
            while (thread.isAlive() && thread.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            below.save(name, state);
        }

        @Override
        public boolean isPersistent() { return true; }
    }

    private static UnitState<Numbers> open(StateStore store) throws IOException {
        return new UnitState<>(store, "numbers", new Numbers(0, 0), FORMAT);
    }

    @Test
    void shouldSaveAChangeThoughOthersChangeTheStateAllTheTime() throws Exception {
        var store = new DisturbedStore();
        UnitState<Numbers> state = open(store);
        store.disturbance = () -> state
                .changeUnsaved(before -> new Numbers(before.saved(), before.unsaved() + 1));
        assertThat(state.change(before -> new Numbers(7, before.unsaved()), (_, _) -> true))
                .isNotNull();
        for (Thread each : store.disturbing) {
            each.join();
        }
        assertThat(state.value()).isEqualTo(new Numbers(7, store.disturbing.size()));
        assertThat(open(store).value().saved()).isEqualTo(7);
    }
}
