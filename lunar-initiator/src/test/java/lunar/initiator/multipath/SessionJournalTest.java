package lunar.initiator.multipath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lunar.block.DeviceGoneException;
import lunar.block.Identity;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.text.TargetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionJournalTest {
    private static final SessionRecord ONE = session(1, OptionalInt.of(1), Optional.empty());
    private static final SessionRecord TWO = session(2, OptionalInt.empty(),
            Optional.of(new UUID(3, 4)));

    private static final Identity UNIT = new Identity("LUNAR", "DISK", "1", "1", new UUID(1, 2));

    private final MemoryRecords memory = new MemoryRecords();
    /** Tasks that the journals run later. */
    private final Deque<Runnable> later = new ArrayDeque<>();

    private static SessionRecord session(int number, OptionalInt group, Optional<UUID> server) {
        return new SessionRecord("iqn.2026-11.org.lunar:one", Isid.random(0xabcdef, number),
                "iscsi", new TargetAddress("fe80::1%eth0", 3260, OptionalInt.empty()), group,
                server);
    }

    private SessionJournal journal() {
        return new SessionJournal(Optional.of(memory), "iqn.2026-11.org.lunar:disk", UNIT,
                later::add);
    }

    @Test
    void shouldReadWhatItWrites() throws Exception {
        assertThat(SessionRecord.parse(ONE.line())).isEqualTo(ONE);
        assertThat(SessionRecord.parse(TWO.line())).isEqualTo(TWO);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "iqn.a:b", "iqn.a:b\tzz\tiscsi\thost\t3260\t1\t-",
            "iqn.a:b\t800000000001\tiscsi\thost\t0\t1\t-",
            "iqn.a:b\t800000000001\tiscsi\thost\t3260\tone\t-",
            "iqn.a:b\t1800000000001\tiscsi\thost\t3260\t1\t-"})
    void shouldRejectOtherLines(String line) {
        assertThatThrownBy(() -> SessionRecord.parse(line)).isInstanceOf(IOException.class)
                .hasMessageContaining("not the record of a session");
    }

    @Test
    void shouldReturnTheSessionsOfEarlierProcessesOnly() throws Exception {
        journal().add(ONE);
        assertThat(journal().earlier()).isEmpty();
        memory.age();
        journal().add(TWO);
        assertThat(journal().earlier()).containsExactly(ONE);
    }

    @Test
    void shouldStoreRemovalsWithTheNextSession() throws Exception {
        SessionJournal journal = journal();
        journal.add(ONE);
        journal.remove(ONE);
        assertThat(memory.text).get(STRING).contains(ONE.line());
        journal.add(TWO);
        assertThat(memory.text).get(STRING).doesNotContain(ONE.line()).contains(TWO.line());
        journal.remove(TWO);
        journal.close();
        assertThat(memory.text).isEmpty();
    }

    @Test
    void shouldStoreNothingForALoginWithTheSameNexus() throws Exception {
        SessionJournal journal = journal();
        journal.add(ONE);
        journal.remove(ONE);
        journal.add(ONE);
        assertThat(memory.stored).isEqualTo(1);
    }

    /** The session that is replaced may be noted as ended after the login of the one in its place. */
    @Test
    void shouldKeepANexusUntilTheLastOfItsSessionsIsRemoved() throws Exception {
        SessionJournal journal = journal();
        journal.add(ONE);
        journal.add(ONE);
        journal.remove(ONE);
        journal.store();
        assertThat(memory.text).get(STRING).contains(ONE.line());
        journal.remove(ONE);
        journal.store();
        assertThat(memory.text).isEmpty();
    }

    @Test
    void shouldRemoveSessionsThatEndAfterItsDeviceWasClosed() throws Exception {
        journal().add(ONE);
        memory.age();
        SessionJournal journal = journal();
        journal.add(TWO);
        journal.close();
        journal.removeEarlier(ONE);
        assertThat(memory.text).get(STRING).doesNotContain(ONE.line()).contains(TWO.line());
        journal.remove(TWO);
        assertThat(memory.text).isEmpty();
    }

    @Test
    void shouldRecordWithTheNextSessionWhatCouldNotBeStored() throws Exception {
        memory.isFull = true;
        SessionJournal journal = journal();
        journal.add(ONE);
        memory.isFull = false;
        journal.add(TWO);
        memory.age();
        assertThat(journal.earlier()).containsExactlyInAnyOrder(ONE, TWO);
    }

    @Test
    void shouldTryAgainUntilAllIsStored() throws Exception {
        memory.isFull = true;
        SessionJournal journal = journal();
        journal.add(ONE);
        journal.add(TWO);
        assertThat(later).hasSize(1);
        later.removeFirst().run();
        assertThat(memory.text).isEmpty();
        assertThat(later).hasSize(1);
        memory.isFull = false;
        later.removeFirst().run();
        assertThat(memory.text).get(STRING).contains(ONE.line(), TWO.line());
        memory.isFull = true;
        journal.remove(ONE);
        journal.close();
        assertThat(later).as("a record that is left costs a login").isEmpty();
    }

    /** A target that shows a session of another portal group at each login does not fill the disk. */
    @Test
    void shouldRefuseSessionsBeyondTheLimitOfARecord() throws Exception {
        memory.text = Optional.of(IntStream.range(0, SessionJournal.MAX_SESSIONS - 1)
                .mapToObj(i -> new UUID(0, i) + " "
                        + session(i, OptionalInt.of(1), Optional.empty()).line() + "\n")
                .collect(Collectors.joining()));
        SessionJournal journal = journal();
        journal.add(TWO);
        SessionRecord more = session(3, OptionalInt.empty(), Optional.empty());
        assertThatThrownBy(() -> journal.add(more)).isInstanceOf(DeviceGoneException.class)
                .hasMessageContaining("record sessions-").hasMessageContaining("1024 sessions");
        assertThat(memory.text.orElseThrow().lines()).hasSize(SessionJournal.MAX_SESSIONS)
                .noneMatch(line -> line.endsWith(more.line()));
        journal.removeEarlier(session(0, OptionalInt.of(1), Optional.empty()));
        journal.add(more);
        assertThat(memory.text.orElseThrow().lines()).hasSize(SessionJournal.MAX_SESSIONS)
                .anyMatch(line -> line.endsWith(more.line()));
    }

    /** Storage that does not answer stops only what waits for it. */
    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldWaitForNoOtherRecordNorForRemovals() throws Exception {
        SessionJournal journal = journal();
        journal.add(ONE);
        var begins = new CountDownLatch(1);
        var answers = new CountDownLatch(1);
        memory.beforeStoring = () -> {
            begins.countDown();
            try {
                answers.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        };
        var other = new MemoryRecords();
        var adding = CompletableFuture.runAsync(() -> {
            try {
                journal.add(TWO);
            } catch (DeviceGoneException e) {
                throw new AssertionError(e);
            }
        }, task -> Thread.ofVirtual().start(task));
        begins.await();
        new SessionJournal(Optional.of(other), "iqn.2026-11.org.lunar:other", UNIT).add(ONE);
        assertThat(other.text).get(STRING).contains(ONE.line());
        journal.remove(ONE);
        assertThat(adding).isNotDone();
        answers.countDown();
        adding.get();
        journal.store();
        assertThat(memory.text).get(STRING).doesNotContain(ONE.line()).contains(TWO.line());
    }

    @Test
    void shouldRecordNothingWithoutRecords() throws Exception {
        var journal = new SessionJournal(Optional.empty(), "iqn.2026-11.org.lunar:disk", UNIT);
        journal.add(ONE);
        journal.remove(ONE);
        journal.removeEarlier(TWO);
        journal.close();
        assertThat(journal.earlier()).isEmpty();
    }
}
