package lunar.initiator.multipath;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import lunar.block.Identity;
import lunar.initiator.SessionOptions;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.text.TargetAddress;
import org.junit.jupiter.api.Test;

/** Tests how the barrier handles the sessions of an earlier process. */
class WriteBarrierTest {
    private static final String TARGET = "iqn.2026-11.org.lunar:barrier";
    private static final SessionOptions OPTIONS = SessionOptions.of("127.0.0.1", 3260, TARGET);
    private static final SessionRecord LEFT = new SessionRecord("iqn.2026-11.org.lunar:one",
            Isid.random(0xabcdef, 1), "iscsi",
            new TargetAddress("127.0.0.1", 3260, OptionalInt.empty()), OptionalInt.of(1),
            Optional.empty());

    private final List<String> events = new ArrayList<>();
    private final MemoryRecords records = new MemoryRecords();

    private final class User implements BarrierUser {
        @Override
        public void adopt() {}

        @Override
        public void lowered() { events.add("lowered"); }
    }

    private static Identity unit() {
        return new Identity("LUNAR", "DISK", "1", "1", UUID.randomUUID());
    }

    /** Returns the session that an earlier process has left in the record. */
    private PathSession left(Identity unit) throws Exception {
        var journal = new SessionJournal(Optional.of(records), TARGET, unit);
        journal.add(LEFT);
        records.age();
        return earlier(new SessionJournal(Optional.of(records), TARGET, unit));
    }

    private static PathSession earlier(SessionJournal journal) {
        journal.close(); // each removal is stored at once
        return PathSession.ofEarlier(LEFT, OPTIONS, journal);
    }

    @Test
    void shouldResumeWritesBeforeItWritesARecord() throws Exception {
        Identity unit = unit();
        PathSession session = left(unit);
        var user = new User();
        WriteBarrier barrier = WriteBarrier.join(user, TARGET, unit);
        barrier.inherit(List.of(session), user);
        records.beforeStoring = () -> events.add("stored");
        barrier.lower(List.of(session));
        assertThat(events).containsExactly("lowered", "stored");
        assertThat(records.text).isEmpty();
        barrier.leave(user, List.of());
    }

    /** Also where a device has found the session that another one of the process has found before. */
    @Test
    void shouldRememberPortalsOfOtherGroupsUntilTheDeviceIsClosed() throws Exception {
        Identity unit = unit();
        PathSession session = left(unit);
        for (int i = 0; i < 2; i++) {
            var user = new User();
            WriteBarrier barrier = WriteBarrier.join(user, TARGET, unit);
            barrier.inherit(List.of(session), user);
            assertThat(session.mayBeAt(OPTIONS)).isTrue();
            session.isNotAt(OPTIONS);
            assertThat(session.mayBeAt(OPTIONS)).isFalse();
            barrier.leave(user, List.of());
        }
        assertThat(records.text).get().asString().contains(LEFT.line());
    }

    @Test
    void shouldRemoveTheRecordsOfSessionsThatAreNoLongerTracked() throws Exception {
        leave(left(unit()));
        for (int i = 0; i < WriteBarrier.MAX_UNUSED; i++) {
            leave(earlier(new SessionJournal(Optional.empty(), TARGET, unit())));
        }
        assertThat(records.text).isEmpty();
    }

    private void leave(PathSession session) {
        var user = new User();
        WriteBarrier barrier = WriteBarrier.join(user, TARGET, unit());
        barrier.inherit(List.of(session), user);
        barrier.leave(user, List.of());
    }
}
