package lunar.it;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.ChannelContract;
import org.junit.jupiter.api.AfterEach;

/** Runs the contract of channels over a LUN of Lunar's target, backed by memory. */
class LunChannelTest extends ChannelContract {
    @FunctionalInterface
    private interface Closing {
        void close() throws IOException;
    }

    private final Deque<Closing> opened = new ArrayDeque<>();

    @Override
    protected BlockDevice create(long blockCount) throws Exception {
        ServedTarget target = ServedTarget.of("ram:" + blockCount * 512);
        opened.push(target::close);
        BlockDevice lun = Devices.open(target.url(0));
        opened.push(lun::close);
        return lun;
    }

    @AfterEach
    void stop() throws IOException {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }
}
