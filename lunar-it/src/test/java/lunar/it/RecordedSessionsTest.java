package lunar.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.ConnectionRecords;
import lunar.block.DeviceGoneException;
import lunar.block.DeviceRecords;
import lunar.block.Devices;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.Timeouts;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.iscsi.pdu.Isid;
import lunar.scsi.Lun;
import lunar.target.PortalSpec;
import lunar.target.SessionLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what devices record of their sessions, and how they handle those of an earlier process. */
@Timeout(300)
class RecordedSessionsTest {
    private static final String INITIATOR = "iqn.2026-11.org.lunar:recorded";
    private static final Isid EARLIER = Isid.random(0x123456, 1);

    /** Records in memory. */
    private static final class Kept implements ConnectionRecords {
        final Map<String, String> texts = new ConcurrentHashMap<>();

        @Override
        public Optional<String> find(String name) { return Optional.ofNullable(texts.get(name)); }

        @Override
        public void keep(String name, String value) { texts.put(name, value); }

        @Override
        public void remove(String name) { texts.remove(name); }

        List<String> lines() { return texts.values().stream().flatMap(String::lines).toList(); }

        /** Records a session of an earlier process, which need not be there any longer. */
        void addEarlier(String name, Isid isid, int port, int group) {
            addEarlier(name, isid, port, group, "-");
        }

        void addEarlier(String name, Isid isid, int port, int group, String server) {
            texts.merge(name, UUID.randomUUID() + " " + String.join("\t", INITIATOR,
                    isid.toString(), "iscsi", "127.0.0.1", Integer.toString(port),
                    Integer.toString(group), server) + "\n", String::concat);
        }
    }

    private static MultipathOptions by(Kept kept, int... ports) {
        Timeouts impatient = Timeouts.DEFAULT.withLoginMs(5_000).withLogoutMs(20_000);
        return MultipathOptions.of(Arrays.stream(ports)
                .mapToObj(port -> SessionOptions.of("127.0.0.1", port, ServedTarget.NAME)
                        .withTimeouts(impatient))
                .toList(), Lun.ZERO).withPauses(10, 100).withRecords(kept);
    }

    private static MemorySegment block(int content) {
        return MemorySegment.ofArray(new byte[512]).fill((byte) content);
    }

    private static byte read(BlockDevice device) throws IOException {
        MemorySegment data = block(0);
        device.read(0, data);
        return data.get(ValueLayout.JAVA_BYTE, 0);
    }

    private static int port(ServedTarget target, int portal) {
        return target.server().portals().get(portal).getPort();
    }

    /** Returns the name of a unit's record. */
    private static String name(Initiator initiator, int port) throws IOException {
        var kept = new Kept();
        try (var _ = MultipathDevice.open(initiator, by(kept, port))) {
            return kept.texts.keySet().iterator().next();
        }
    }

    @Test
    void shouldRecordSessionsUntilTheyAreClosed() throws Exception {
        var kept = new Kept();
        try (var target = ServedTarget.of("ram:1MiB");
                var initiator = Initiator.create(INITIATOR)) {
            int port = port(target, 0);
            try (var device = MultipathDevice.open(initiator, by(kept, port, port))) {
                ServedTarget.await("paths", () -> device.paths().stream()
                        .allMatch(path -> path.state() == Path.State.UP));
                device.write(0, block(1));
                assertThat(kept.lines()).hasSize(2)
                        .allMatch(line -> line.contains(INITIATOR + "\t"));
            }
            assertThat(kept.texts).isEmpty();
        }
    }

    /** Another device of this process with the same records is no reason to end its sessions. */
    @Test
    void shouldSpareLivingSessions() throws Exception {
        var kept = new Kept();
        try (var target = ServedTarget.of("ram:1MiB");
                var initiator = Initiator.create(INITIATOR);
                var one = MultipathDevice.open(initiator, by(kept, port(target, 0)))) {
            one.write(0, block(1));
            try (var two = MultipathDevice.open(initiator, by(kept, port(target, 0)))) {
                two.write(0, block(2));
                assertThat(kept.lines()).hasSize(2);
            }
            assertThat(kept.lines()).hasSize(1);
            assertThat(read(one)).isEqualTo((byte) 2);
            assertThat(one.paths().getFirst().failures()).isZero();
        }
    }

    @Test
    void shouldEndTheSessionsOfAnEarlierProcessBeforeItWrites() throws Exception {
        var kept = new Kept();
        try (var target = ServedTarget.of("ram:1MiB");
                var initiator = Initiator.create(INITIATOR);
                var left = initiator.login(
                        SessionOptions.of("127.0.0.1", port(target, 0), ServedTarget.NAME),
                        EARLIER)) {
            kept.addEarlier(name(initiator, port(target, 0)), EARLIER, port(target, 0), 1);
            try (var device = MultipathDevice.open(initiator, by(kept, port(target, 0)))) {
                device.write(0, block(1));
                // sessions that have logged out end at the server a little later
                ServedTarget.await("sessions", () -> target.server().sessionCount() == 1);
                ServedTarget.await("end", () -> !left.isOpen());
                ServedTarget.await("record", () -> kept.lines().size() == 1);
                assertThat(kept.lines().getFirst()).doesNotContain(EARLIER.toString());
            }
            assertThat(kept.lines()).isEmpty();
        }
    }

    /**
     * The session is gone, so that the login that would end it is one more, which the target refuses.
     *
     * @param isRestarted whether the server that had the session has ended, too
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldAskTheServerOfASessionWhereItRefusesTheLogin(boolean isRestarted) throws Exception {
        var kept = new Kept();
        try (var target = ServedTarget.of(UnaryOperator.identity(),
                server -> server.sessionLimits(SessionLimits.DEFAULT.withPerInitiator(1)),
                "ram:1MiB");
                var initiator = Initiator.create(INITIATOR)) {
            int port = port(target, 0);
            String name;
            String server;
            try (var _ = MultipathDevice.open(initiator, by(kept, port))) {
                name = kept.texts.keySet().iterator().next();
                String line = kept.lines().getFirst();
                server = line.substring(line.lastIndexOf('\t') + 1);
            }
            ServedTarget.await("end", () -> target.server().sessionCount() == 0);
            kept.addEarlier(name, EARLIER, port, 1,
                    isRestarted ? UUID.randomUUID().toString() : server);
            try (var device = MultipathDevice.open(initiator, by(kept, port))) {
                device.write(0, block(1));
                ServedTarget.await("record", () -> kept.lines().size() == 1);
                assertThat(kept.lines().getFirst()).doesNotContain(EARLIER.toString());
            }
        }
    }

    /** Two targets of one name: a login at the first does not end a session at the second. */
    @Test
    void shouldTellTargetsOfOneNameApart() throws Exception {
        var kept = new Kept();
        try (var first = ServedTarget.of("ram:1MiB");
                var second = ServedTarget.of("ram:1MiB");
                var initiator = Initiator.create(INITIATOR);
                var left = initiator.login(
                        SessionOptions.of("127.0.0.1", port(second, 0), ServedTarget.NAME),
                        EARLIER)) {
            kept.addEarlier(name(initiator, port(second, 0)), EARLIER, port(second, 0), 1);
            try (var device = MultipathDevice.open(initiator, by(kept, port(first, 0)))) {
                device.write(0, block(1));
                assertThat(left.isOpen()).isTrue();
            }
            assertThat(kept.lines()).hasSize(1);
            try (var device = MultipathDevice.open(initiator, by(kept, port(second, 0)))) {
                device.write(0, block(1));
                ServedTarget.await("sessions", () -> second.server().sessionCount() == 1);
            }
        }
    }

    /** Only the portal of its group can end the session, and does not answer: reads go on, writes wait. */
    @Test
    void shouldHoldWritesWhileASessionOfAnEarlierProcessCannotBeEnded() throws Exception {
        var kept = new Kept();
        try (var target = ServedTarget.of(UnaryOperator.identity(),
                server -> server.portal(
                        PortalSpec.of(new InetSocketAddress("127.0.0.1", 0)).withGroup(2)),
                "ram:1MiB");
                var proxy = new FreezeProxy(port(target, 0));
                var initiator = Initiator.create(INITIATOR)) {
            kept.addEarlier(name(initiator, port(target, 1)), EARLIER, proxy.port(), 1);
            proxy.freeze();
            var done = new CompletableFuture<Boolean>();
            try (var device = MultipathDevice.open(initiator, by(kept, port(target, 1)))) {
                device.submit(new BlockRequest().asWrite(0, 1, block(1), false)
                        .onCompletion((_, failure) -> done.complete(failure == null)));
                ServedTarget.await("a try", () -> proxy.heldToTarget() > 0);
                assertThat(read(device)).isZero();
                device.flush();
                assertThat(done).isNotDone();
                assertThat(kept.lines()).hasSize(2);
            }
            assertThat(done).isCompletedWithValue(false);
            assertThat(kept.lines()).as("for the next process").hasSize(1)
                    .allMatch(line -> line.contains(EARLIER.toString()));
            try (var again = MultipathDevice.open(initiator, by(kept, port(target, 1)))) {
                var later = CompletableFuture.supplyAsync(() -> {
                    try {
                        again.write(0, block(2));
                        return true;
                    } catch (IOException _) {
                        return false;
                    }
                });
                proxy.thaw();
                assertThat(later.get(60, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(kept.lines()).isEmpty();
        }
    }

    @Test
    void shouldNotWriteWithRecordsThatCannotBeRead() throws Exception {
        var kept = new Kept();
        try (var target = ServedTarget.of("ram:1MiB");
                var initiator = Initiator.create(INITIATOR)) {
            kept.texts.put(name(initiator, port(target, 0)), "what?\n");
            assertThatThrownBy(
                    () -> MultipathDevice.open(initiator, by(kept, port(target, 0))))
                    .isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("not the record of a session");
        }
    }

    @Test
    void shouldRecordTheSessionsOfMembersOfAVolume() throws Exception {
        var kept = new Kept();
        var records = new DeviceRecords() {
            @Override
            public Optional<String> find(String name) { throw new AssertionError(name); }

            @Override
            public void keep(String name, String value) { throw new AssertionError(name); }

            @Override
            public boolean isPersistent() { return true; }

            @Override
            public boolean hasServed(UUID identity) { throw new AssertionError(identity); }

            @Override
            public Optional<ConnectionRecords> connections() { return Optional.of(kept); }
        };
        try (var target = ServedTarget.of("ram:16MiB", "ram:16MiB")) {
            List<String> members = List.of(target.url(0), target.url(1));
            LateMemberWritesTest.created(members);
            try (BlockDevice volume = Devices.open("raid1:late?member=" + members.getFirst()
                    + "&member=" + members.getLast(), records)) {
                volume.write(0, block(1));
                assertThat(kept.texts).hasSize(2);
                assertThat(kept.lines()).hasSize(2);
            }
            assertThat(kept.lines()).isEmpty();
        }
    }
}
