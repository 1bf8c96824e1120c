package lunar.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.block.StorageException;

/**
 * Makes the writeback of a file fail, which Linux reports once. If the file is a LUN, the loss is reported to every
 * host, also after a kill, until an operator accepts it. If it is a member of a mirror, the member is failed, and no
 * host notices.
 */
final class FailedSync implements Scenario {
    private static final int BLOCKS = 128;

    private final String kind;

    /** @param kind {@code file} or {@code raid1} */
    FailedSync(String kind) { this.kind = kind; }

    @Override
    public String name() { return "failed-sync-" + kind; }

    @Override
    public String about() { return "fdatasync of a file fails once, served as " + kind; }

    @Override
    public String missing() { return Preload.missing(); }

    @Override
    public String play(Lab lab, int times) throws Exception {
        Path library = Preload.compile(lab, "failing-fdatasync");
        Path image = lab.path(kind.equals("file") ? "disk.img" : "m1");
        Path trigger = lab.path("trigger");
        Unit unit = Unit.of(kind, lab);
        Gateway gateway = unit.made(lab);
        var environment = Map.of("LD_PRELOAD", library.toString(), "LUNAR_FAULT_FILE",
                image.toString(), "LUNAR_FAULT_TRIGGER", trigger.toString());
        LunarProcess server = gateway.launch(environment).awaitServing(1);
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        try (BlockDevice one = Devices.open(gateway.uri());
                BlockDevice two = Devices
                        .open(gateway.uri() + "&initiator=iqn.2026-11.org.host:two");
                var running = VerifiedLoad.start(one, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                running.progress(lab.between(20, 200), server);
                flush(running); // what the last restart has lost is told now
                running.round(server); // and counted, where another flush was told
                long losses = running.losses();
                Files.createFile(trigger);
                awaitFailure(trigger, running, server);
                lab.say("writeback has failed at %,d requests", running.done());
                if (kind.equals("file")) {
                    requireTold(running, two, server);
                    server = restart(lab, gateway, server, environment);
                    requireTold(running, two, server);
                    lab.run("accept-loss", "file:" + image);
                } else {
                    running.progress(50, server);
                    if (running.losses() > losses) {
                        throw new AssertionError(
                                "hosts are told of a loss that the volume has made good");
                    }
                    server = restart(lab, gateway, server, environment);
                    lab.run("accept-loss", "file:" + image);
                    VolumeWait.untilClean(lab, gateway, running);
                }
            }
            running.progress(100, server);
            running.close();
            flush(load);
            load.checkAll();
        }
        load.failIfBroken();
        String scrub = unit.isVolume() ? ", " + gateway.scrub() : "";
        server.end();
        return times + " failed syncs, " + load.summary() + scrub;
    }

    private static void flush(VerifiedLoad load) throws StorageException {
        if (!load.flush() && !load.flush()) {
            throw new AssertionError("flushes fail, and no loss is new");
        }
    }

    private static void awaitFailure(Path trigger, VerifiedLoad load, LunarProcess server)
            throws Exception {
        while (Files.exists(trigger)) {
            load.progress(1, server);
        }
    }

    private static LunarProcess restart(Lab lab, Gateway gateway, LunarProcess server,
            Map<String, String> environment) throws IOException, InterruptedException {
        if (lab.random().nextBoolean()) {
            server.kill();
        } else {
            server.end();
        }
        return gateway.launch(environment).awaitServing(1);
    }

    /** No flush succeeds, of the host that writes or of another. */
    private static void requireTold(VerifiedLoad load, BlockDevice other, LunarProcess server)
            throws Exception {
        load.round(server); // those that had begun before have ended
        long flushes = load.flushes();
        for (int i = 0; i < 2; i++) {
            try {
                other.flush();
                throw new AssertionError("a host is not told of lost writes");
            } catch (StorageException _) {
                load.progress(10, server);
            }
        }
        if (load.flushes() != flushes) {
            throw new AssertionError("a flush succeeds after writes were lost");
        }
    }
}
