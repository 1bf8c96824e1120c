package lunar.it.faults;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.initiator.Initiator;
import lunar.initiator.SessionOptions;
import lunar.initiator.Timeouts;
import lunar.initiator.multipath.MultipathDevice;
import lunar.initiator.multipath.MultipathOptions;
import lunar.initiator.multipath.Path;
import lunar.scsi.Lun;
import lunar.testkit.FreePorts;

/**
 * Freezes, cuts or slows down one or the other of two paths to a served file, under load. What the frozen path held
 * arrives when it thaws, and must not overwrite what the other path has written since then.
 */
final class FrozenPath implements Scenario {
    private static final String IQN = "iqn.2026-11.org.lunar:frozen";
    private static final int BLOCKS = 64;
    private static final long PATIENCE_MS = 180_000;
    private static final Timeouts TIMEOUTS = Timeouts.DEFAULT.withKeepAliveMs(1_000)
            .withConnectMs(10_000).withLoginMs(10_000).withCommandMs(15_000).withAbortMs(2_000)
            .withLogoutMs(500);

    @Override
    public String name() { return "frozen-path"; }

    @Override
    public String about() { return "one of two paths freezes, is cut or slow, and heals"; }

    @Override
    public String play(Lab lab, int times) throws Exception {
        List<Integer> ports = FreePorts.several(2);
        lab.start(Map.of(), "server.err", "serve",
                "file:" + lab.path("disk.img") + "?size=1MiB", "--iqn", IQN, "--state",
                lab.path("state").toString(), "--portal", "127.0.0.1:" + ports.get(0), "--portal",
                "127.0.0.1:" + ports.get(1)).awaitServing(1);
        List<FaultProxy> proxies = List.of(lab.with(new FaultProxy(ports.get(0))),
                lab.with(new FaultProxy(ports.get(1))));
        var failovers = new AtomicInteger();
        Initiator initiator = lab.with(Initiator.create("iqn.2026-11.org.lunar:lab"));
        var options = MultipathOptions.of(proxies.stream().map(proxy -> SessionOptions
                .of("127.0.0.1", proxy.port(), IQN).withTimeouts(TIMEOUTS)).toList(), Lun.ZERO)
                .withPauses(20, 200).withNoPathMs(PATIENCE_MS).withListener(event -> {
                    if (event.before() == Path.State.UP && event.after() != Path.State.UP) {
                        failovers.incrementAndGet();
                    }
                });
        MultipathDevice device = lab.with(open(initiator, options));
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                awaitPaths(device, running);
                hurt(lab, proxies.get(lab.random().nextInt(proxies.size())), running);
            }
            awaitPaths(device, running);
        }
        load.failIfBroken();
        load.checkAll();
        return failovers + " failovers, " + load.summary();
    }

    /** On a busy machine the first answers may take longer than a path is given. */
    private static MultipathDevice open(Initiator initiator, MultipathOptions options)
            throws StorageException {
        long endNanos = System.nanoTime() + PATIENCE_MS * 1_000_000;
        while (true) {
            try {
                return MultipathDevice.open(initiator, options);
            } catch (DeviceGoneException e) {
                if (System.nanoTime() - endNanos > 0) {
                    throw e;
                }
            }
        }
    }

    private static void awaitPaths(MultipathDevice device, VerifiedLoad load)
            throws InterruptedException {
        long endNanos = System.nanoTime() + PATIENCE_MS * 1_000_000;
        while (device.paths().stream().anyMatch(path -> path.state() != Path.State.UP)) {
            load.failIfBroken();
            if (System.nanoTime() - endNanos > 0) {
                throw new AssertionError("paths do not come back: " + device.paths());
            }
            Thread.sleep(5);
        }
    }

    private static void hurt(Lab lab, FaultProxy proxy, VerifiedLoad load)
            throws InterruptedException {
        Thread.sleep(lab.between(0, 50));
        switch (lab.random().nextInt(6)) {
            case 0 -> {
                lab.say("%s", "cut");
                proxy.cut();
            }
            case 1 -> {
                int ms = lab.between(1, 40);
                lab.say("slow by %d ms, then cut", ms);
                proxy.delay(ms);
                Thread.sleep(lab.between(20, 200));
                proxy.cut();
                proxy.delay(0);
            }
            default -> {
                int ms = lab.between(300, 1_500);
                lab.say("frozen for %d ms", ms);
                proxy.freeze();
                Thread.sleep(ms);
                if (lab.random().nextBoolean() && !load.awaitProgress(50, PATIENCE_MS)) {
                    throw new AssertionError("no progress by the other path");
                }
                proxy.thaw();
            }
        }
        if (!load.awaitProgress(20, PATIENCE_MS)) {
            throw new AssertionError("no progress after the fault");
        }
    }
}
