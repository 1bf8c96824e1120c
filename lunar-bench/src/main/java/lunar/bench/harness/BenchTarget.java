package lunar.bench.harness;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import lunar.block.Devices;
import lunar.target.ServerLimits;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;

/**
 * Lunar's target like {@code lunar serve}, but with a larger command window, and without a unit attention at the start
 * of a session, because jSCSI cannot handle one. Exits when its standard input reaches end of file, so that it does not
 * outlive a killed benchmark.
 */
public final class BenchTarget {
    /** Maximum number of outstanding commands of a session. */
    private static final int WINDOW = 1024;

    private BenchTarget() {}

    /** Opens a URI several times, serves the devices as LUNs: {@code COUNT URI --portal HOST:PORT --iqn IQN}. */
    public static void main(String[] args) throws IOException {
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        String[] portal = args[3].split(":", 2);
        try (var server = start(Integer.parseInt(args[0]), args[1], portal[0],
                Integer.parseInt(portal[1]), args[5])) {
            out.println("serving " + args[5] + " lun 0 " + args[1] + " on " + portal[0] + ":"
                    + server.portals().getFirst().getPort());
            while (System.in.read() >= 0) {
                // input has no meaning
            }
        }
    }

    public static TargetServer start(int luns, String device, String host, int port, String iqn)
            throws IOException {
        TargetSpec target = TargetSpec.of(iqn);
        for (int lun = 0; lun < luns; lun++) {
            target = target.withLun(lun, Devices.open(device));
        }
        return TargetServer.builder().portal(host, port).target(target)
                .limits(ServerLimits.DEFAULT.withCommandsPerSession(WINDOW)).announceResets(false)
                .start();
    }
}
