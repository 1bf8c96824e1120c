package lunar.it.faults;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.FreePorts;

/**
 * Sets the wall clock of a volume's gateway forth and back, by seconds or days, while its members' targets are killed
 * and restarted. No timeout may fire late or early because of it, and the gateway keeps the volume.
 */
final class JumpingClock implements Scenario {
    private static final int BLOCKS = 128;
    private static final int DAY = 86_400;

    @Override
    public String name() { return "jumping-clock"; }

    @Override
    public String about() { return "the clock of a gateway jumps while its members come and go"; }

    @Override
    public String missing() { return Preload.missing(); }

    @Override
    public String play(Lab lab, int times) throws Exception {
        Path clock = lab.path("clock");
        set(clock, 0);
        Path library = Preload.compile(lab, "jumping-clock");
        var members = new MemberTargets(lab, 2, "");
        members.create("raid1:vol");
        var gateway = new Gateway(lab, "raid1:vol", members.config(), FreePorts.one());
        LunarProcess server = gateway.start(Map.of("LD_PRELOAD", library.toString(),
                "LUNAR_FAULT_CLOCK", clock.toString()));
        BlockDevice device = lab.with(Devices.open(gateway.uri()));
        var history = new BlockHistory(BLOCKS);
        VerifiedLoad load;
        try (var running = VerifiedLoad.start(device, history, lab.seed(), lab.random())) {
            load = running;
            for (int i = 0; i < times; i++) {
                int seconds = List.of(2, 60, 3_600, DAY, 400 * DAY)
                        .get(lab.random().nextInt(5)) * (lab.random().nextBoolean() ? 1 : -1);
                set(clock, seconds);
                lab.say("the clock is %d s off", seconds);
                running.progress(lab.between(50, 300), server);
                if (lab.random().nextInt(3) == 0) {
                    int member = lab.random().nextInt(members.count());
                    members.kill(member);
                    lab.say("member %d is killed", member);
                    running.progress(20, server);
                    members.restart(member);
                    VolumeWait.untilClean(lab, gateway, running);
                }
            }
        }
        load.failIfBroken();
        load.checkAll();
        device.close();
        String scrub = gateway.scrub();
        server.end();
        return times + " jumps, " + load.summary() + ", " + scrub;
    }

    private static void set(Path clock, long seconds) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder())
                .putLong(0, seconds);
        try (var file = Files.newByteChannel(clock, StandardOpenOption.CREATE,
                StandardOpenOption.WRITE)) {
            file.write(bytes);
        }
    }
}
