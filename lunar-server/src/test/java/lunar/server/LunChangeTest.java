package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.Devices;
import lunar.block.ForwardingDevice;
import lunar.block.NoSpaceException;
import lunar.block.StorageException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests a server whose LUNs are changed while it runs, and which is drained, with initiators. */
@Timeout(600)
class LunChangeTest {
    private static final String IQN = "iqn.2026-11.org.lunar:changed";
    private static final Duration LONG = Duration.ofMinutes(4);

    @TempDir
    Path folder;

    private final List<String> warnings = new ArrayList<>();

    private StorageServer start(String... uris) throws Exception {
        return StorageServer.start(plan(uris), new ServerListener() {
            @Override
            public void warned(String message, @Nullable IOException cause) {
                warnings.add(message);
            }
        }, PortalAddresses.NONE, new ClosingLimits(LONG, LONG, LONG, LONG));
    }

    private static ServerPlan plan(String... uris) {
        return ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of(uris))));
    }

    private static LunRequest add(String uri) {
        return new LunRequest.Add(IQN, OptionalInt.empty(), ServerPlan.Lun.of(uri));
    }

    private static BlockDevice open(StorageServer server, int lun) throws IOException {
        InetSocketAddress portal = server.portals().getFirst();
        return Devices.open("iscsi://127.0.0.1:" + portal.getPort() + "/" + IQN + "/" + lun);
    }

    private String file(String name) { return "file:" + folder.resolve(name) + "?size=1MiB"; }

    private static void use(BlockDevice disk) throws IOException {
        disk.write(0, MemorySegment.ofArray(new byte[512]));
    }

    @Test
    void shouldServeAnAddedLunAndKeepItOverAReload() throws Exception {
        try (StorageServer server = start("ram:1MiB"); BlockDevice first = open(server, 0)) {
            use(first);
            ChangedLun added = server.change(add(file("b")));
            assertThat(added.lun()).isEqualTo(1);
            assertThat(added.change().units()).hasSize(2);
            use(first);
            try (BlockDevice second = open(server, 1)) {
                use(second);
                server.reload(plan("ram:1MiB"));
                use(second);
                server.reload(plan("ram:1MiB", file("b")));
                assertThat(server.changes()).isEmpty();
                use(second);
            }
            server.change(new LunRequest.Remove(IQN, 1));
            server.reload(plan("ram:1MiB", file("b")));
            assertThat(server.units()).hasSize(1);
            assertThatThrownBy(() -> open(server, 1)).isInstanceOf(IOException.class);
            server.reloadDiscarding(plan("ram:1MiB", file("b")));
            assertThat(server.units()).hasSize(2);
            use(first);
            assertThat(server.changes()).isEmpty();
        }
        assertThat(warnings).isEmpty();
    }

    @Test
    void shouldChangeNothingIfAChangeFails() throws Exception {
        try (StorageServer server = start(file("a"), "ram:1MiB")) {
            server.change(add("ram:2MiB"));
            List<LunChange> before = server.changes();
            for (LunRequest wrong : List.of(add("file:" + folder + "/none"), add("nothing"),
                    add("file:" + folder + "/./a?size=1MiB"),
                    new LunRequest.Resize(IQN, 0, 512), new LunRequest.Remove(IQN, 9))) {
                assertThatThrownBy(() -> server.change(wrong)).as(wrong.toString())
                        .isInstanceOf(InvalidPlanException.class).message().doesNotContain("\n");
            }
            assertThatThrownBy(() -> server.reload(plan(file("a"), "ram:1MiB", file("c"))))
                    .isInstanceOf(ContradictedChangeException.class);
            assertThat(server.changes()).isEqualTo(before);
            assertThat(server.units()).extracting(ServedUnit::uri)
                    .containsExactly(file("a"), "ram:1MiB", "ram:2MiB");
        }
    }

    @Test
    void shouldNotReuseNumbersOfRemovedLuns() throws Exception {
        try (StorageServer server = start("ram:1MiB")) {
            assertThat(server.change(add("ram:1MiB")).lun()).isEqualTo(1);
            server.change(new LunRequest.Remove(IQN, 1));
            assertThatThrownBy(() -> server.change(new LunRequest.Add(IQN, OptionalInt.of(9),
                    ServerPlan.Lun.of("file:" + folder + "/none"))))
                    .isInstanceOf(InvalidPlanException.class);
            assertThat(server.change(add("ram:1MiB")).lun())
                    .as("LUN 9 was never served").isEqualTo(2);
            server.reloadDiscarding(plan("ram:1MiB"));
            assertThat(server.change(add("ram:1MiB")).lun()).isEqualTo(3);
            assertThat(server.change(new LunRequest.Add(IQN, OptionalInt.of(1),
                    ServerPlan.Lun.of("ram:1MiB"))).lun()).isEqualTo(1);
        }
    }

    @Test
    void shouldResizeAndWarnOfTheNextStart() throws Exception {
        try (StorageServer server = start(file("a")); BlockDevice disk = open(server, 0)) {
            ChangedLun resized = server.change(new LunRequest.Resize(IQN, 0, 2 << 20));
            assertThat(resized.change().units().getFirst().sizeBytes()).isEqualTo(2 << 20);
            assertThat(warnings).containsExactly("LUN 0 of " + IQN
                    + " is configured with 1 MiB: change that before the next start");
            use(disk);
            try (BlockDevice again = open(server, 0)) {
                assertThat(again.sizeBytes()).isEqualTo(2 << 20);
            }
            server.reload(plan(file("a")));
            assertThat(server.unitStatuses().getFirst().temporary()).isTrue();
            assertThatThrownBy(() -> server.reloadDiscarding(plan(file("a"))))
                    .hasMessageContaining("cannot be shrunk");
            server.reload(plan(file("a").replace("1MiB", "2MiB")));
            assertThat(server.unitStatuses().getFirst().temporary()).isFalse();
            use(disk);
        }
    }

    /** A device that cannot grow. */
    private static final class Rigid extends ForwardingDevice {
        private final BooleanSupplier isFull;

        Rigid(BlockDevice below, BooleanSupplier isFull) {
            super(below);
            this.isFull = isFull;
        }

        @Override
        public void execute(BlockRequest request) throws StorageException {
            below().execute(request);
        }

        @Override
        public void submit(BlockRequest request) { below().submit(request); }

        @Override
        public void grow(long blockCount) throws StorageException {
            if (isFull.getAsBoolean()) {
                throw new NoSpaceException("it is full");
            }
            below().grow(blockCount);
        }
    }

    @Test
    void shouldGoBackIfADeviceCannotBeResized() throws Exception {
        ServerPlan rigid = plan(file("a"), "ram:1MiB")
                .withOpener((uri, records) -> new Rigid(Devices.open(uri, records), () -> true));
        try (StorageServer server = StorageServer.start(rigid);
                BlockDevice disk = open(server, 0)) {
            assertThatThrownBy(() -> server.change(new LunRequest.Resize(IQN, 0, 2 << 20)))
                    .isInstanceOf(InvalidPlanException.class)
                    .hasMessageContaining("still has 1 MiB");
            assertThat(server.changes()).isEmpty();
            server.change(add("ram:1MiB"));
            assertThat(server.units().getFirst().uri()).isEqualTo(file("a"));
            use(disk);
        }
    }

    @Test
    void shouldTryAResizeAgainThatHasFailed() throws Exception {
        Devices.open(file("a")).close();
        var full = new AtomicBoolean(true);
        ServerPlan plan = plan("file:" + folder.resolve("a")).withOpener(
                (uri, records) -> new Rigid(Devices.open(uri, records), full::get));
        try (StorageServer server = StorageServer.start(plan)) {
            var resize = new LunRequest.Resize(IQN, 0, 2 << 20);
            assertThatThrownBy(() -> server.change(resize)).hasMessageContaining("still has 1 MiB");
            full.set(false);
            assertThat(server.change(resize).change().units().getFirst().sizeBytes())
                    .isEqualTo(2 << 20);
        }
    }

    @Test
    void shouldResizeToWholeBlocksOnly() throws Exception {
        try (StorageServer server = start(file("a") + "&block-size=4096")) {
            assertThatThrownBy(
                    () -> server.change(new LunRequest.Resize(IQN, 0, (1 << 20) + 4608)))
                    .isInstanceOf(InvalidPlanException.class)
                    .hasMessageContaining("must be a multiple of its blocks of 4096");
            assertThat(server.changes()).isEmpty();
        }
    }

    @Test
    void shouldMakeAllOfManyChangesAtOnce() throws Exception {
        int count = 8;
        try (StorageServer server = start("ram:1MiB")) {
            var changes = new ArrayList<CompletableFuture<Integer>>();
            for (int i = 0; i < count; i++) {
                changes.add(CompletableFuture.supplyAsync(() -> {
                    try {
                        server.reload(plan("ram:1MiB"));
                        return server.change(add("ram:1MiB")).lun();
                    } catch (IOException | InvalidPlanException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            for (CompletableFuture<Integer> change : changes) {
                assertThat(change.get(300, TimeUnit.SECONDS)).isBetween(1, count);
            }
            assertThat(server.units()).hasSize(count + 1);
            assertThat(server.changes()).hasSize(count);
        }
    }

    @Test
    void shouldRefuseChangesOfAClosedServer() throws Exception {
        StorageServer server = start("ram:1MiB");
        server.close();
        assertThatThrownBy(() -> server.change(add("ram:1MiB")))
                .isInstanceOf(InvalidPlanException.class).hasMessageContaining("stopping");
    }

    @Test
    void shouldStayDrainedOverAReload() throws Exception {
        try (StorageServer server = start("ram:1MiB")) {
            BlockDevice disk = open(server, 0);
            List<CompletableFuture<Void>> ends = server.drain(IQN, Duration.ofSeconds(30));
            assertThat(ends).hasSize(1);
            ends.getFirst().get(120, TimeUnit.SECONDS);
            server.reload(plan("ram:1MiB", "ram:1MiB"));
            assertThat(server.drainedTargets()).containsExactly(IQN);
            assertThatThrownBy(() -> open(server, 0))
                    .hasStackTraceContaining("service unavailable");
            assertThatThrownBy(() -> server.drain(IQN + "2", Duration.ofSeconds(1)))
                    .isInstanceOf(NotServedException.class);
            server.endDrain(IQN);
            disk.close();
            try (BlockDevice again = open(server, 0)) {
                use(again);
            }
            server.drain(IQN, Duration.ofSeconds(1));
            server.reload(plan().withTargets(List.of(
                    ServerPlan.Target.of(IQN + "3", List.of("ram:1MiB")))));
            assertThat(server.drainedTargets()).as("the target is gone").isEmpty();
        }
    }
}
