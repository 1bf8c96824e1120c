package lunar.initiator.multipath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import lunar.block.ConnectionRecords;
import lunar.block.Identity;
import lunar.iscsi.pdu.Isid;
import lunar.iscsi.text.TargetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SessionJournalTest {
    private static final SessionRecord ONE = session(1, OptionalInt.of(1), Optional.empty());
    private static final SessionRecord TWO = session(2, OptionalInt.empty(),
            Optional.of(new UUID(3, 4)));

    private static final Identity UNIT = new Identity("LUNAR", "DISK", "1", "1", new UUID(1, 2));

    private final Memory memory = new Memory();

    /** Records of one unit in memory. */
    private static final class Memory implements ConnectionRecords {
        private String text = "";
        private int stored;
        private boolean full;

        @Override
        public Optional<String> find(String name) {
            return text.isEmpty() ? Optional.empty() : Optional.of(text);
        }

        @Override
        public void keep(String name, String value) throws IOException {
            if (full) {
                throw new IOException("no space");
            }
            text = value;
            stored++;
        }

        @Override
        public void remove(String name) { text = ""; }

        /** Has another process left what is recorded. */
        void age() {
            text = text.replaceAll("(?m)^\\S+ ", UUID.randomUUID() + " ");
        }
    }

    private static SessionRecord session(int number, OptionalInt group, Optional<UUID> server) {
        return new SessionRecord("iqn.2026-11.org.lunar:one", Isid.random(0xabcdef, number),
                "iscsi", new TargetAddress("fe80::1%eth0", 3260, OptionalInt.empty()), group,
                server);
    }

    private SessionJournal journal() {
        return new SessionJournal(Optional.of(memory), "iqn.2026-11.org.lunar:disk", UNIT);
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
        assertThat(memory.text).contains(ONE.line());
        journal.add(TWO);
        assertThat(memory.text).doesNotContain(ONE.line()).contains(TWO.line());
        journal.remove(TWO);
        journal.close();
        assertThat(memory.text).isEmpty();
    }

    @Test
    void shouldStoreNothingForALoginWithTheSameNexus() {
        SessionJournal journal = journal();
        journal.add(ONE);
        journal.remove(ONE);
        journal.add(ONE);
        assertThat(memory.stored).isEqualTo(1);
    }

    /** The session that is replaced may be noted as ended after the login of the one in its place. */
    @Test
    void shouldKeepANexusUntilTheLastOfItsSessionsIsRemoved() {
        SessionJournal journal = journal();
        journal.add(ONE);
        journal.add(ONE);
        journal.remove(ONE);
        journal.store();
        assertThat(memory.text).contains(ONE.line());
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
        assertThat(memory.text).doesNotContain(ONE.line()).contains(TWO.line());
        journal.remove(TWO);
        assertThat(memory.text).isEmpty();
    }

    @Test
    void shouldGoOnIfNothingCanBeStored() throws Exception {
        memory.full = true;
        SessionJournal journal = journal();
        journal.add(ONE);
        memory.full = false;
        journal.add(TWO);
        memory.age();
        assertThat(journal.earlier()).containsExactly(TWO);
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
