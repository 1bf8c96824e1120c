package lunar.scsi.target.reservation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.target.Registrant;
import lunar.scsi.target.StateStore;
import org.junit.jupiter.api.Test;

/** Tests which reservations outlive a loss of power when changes meet. */
class ReservationsTest {
    private static final Registrant ONE = new Registrant("a,i,0x000000000001", "t", 1);
    private static final Registrant TWO = new Registrant("b,i,0x000000000002", "t", 1);

    /** Store in memory that lets something happen while it saves for the first time. */
    private static final class SlowStore implements StateStore {
        private final StateStore below = StateStore.inMemory();
        private Optional<Runnable> meanwhile = Optional.empty();

        @Override
        public Optional<byte[]> load(String name) throws IOException { return below.load(name); }

        @Override
        public void save(String name, byte[] state) throws IOException {
            Optional<Runnable> now = meanwhile;
            meanwhile = Optional.empty();
            now.ifPresent(Runnable::run);
            below.save(name, state);
        }

        @Override
        public boolean isPersistent() { return true; }
    }

    private static void register(Reservations reservations, Registrant who, long key)
            throws Exception {
        reservations.change(state -> ReservationRules.register(state, List.of(who), key, false),
                () -> false);
    }

    private static void untilItEndsOrWaits(Thread thread) {
        while (thread.isAlive() && thread.getState() != Thread.State.WAITING
                && thread.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
    }

    /** The registrant is preempted, or its REGISTER comes too late: it may not be registered after a loss of power. */
    @Test
    void shouldNotRestoreARegistrantThatWasPreemptedWhileItRegisteredWithAptpl() throws Exception {
        var store = new SlowStore();
        var reservations = new Reservations(store, "t");
        register(reservations, ONE, 1);
        register(reservations, TWO, 2);
        var preemption = new FutureTask<>(() -> reservations
                .change(state -> ReservationRules.preempt(state, TWO, state.keys().get(ONE),
                        ReservationType.WRITE_EXCLUSIVE, false).orElse(null), () -> false));
        var preempting = new Thread(preemption);
        store.meanwhile = Optional.of(() -> {
            preempting.start();
            untilItEndsOrWaits(preempting);
        });
        reservations.change(state -> state.isRegistered(ONE)
                ? ReservationRules.register(state, List.of(ONE), 3, true)
                : null, () -> false);
        assertThat(preemption.get()).isNotNull();
        assertThat(reservations.state().isRegistered(ONE)).isFalse();
        assertThat(new Reservations(store, "t").state().isRegistered(ONE))
                .as("after a loss of power").isFalse();
    }
}
