package lunar.bench;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import lunar.block.Devices;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;

/**
 * Lunar's target, as {@code lunar serve} runs it, but that it does not begin a session with a unit attention: jSCSI
 * would give up. Ends with its standard input, so that none is left behind by a bench that was killed.
 */
public final class BenchTarget {
    private BenchTarget() {}

    /** Serves a device as LUN 0: {@code URI --portal HOST:PORT --iqn IQN}. */
    public static void main(String[] args) throws IOException {
        var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                StandardCharsets.UTF_8);
        String[] portal = args[2].split(":", 2);
        try (var server = start(args[0], portal[0], Integer.parseInt(portal[1]), args[4])) {
            out.println("serving " + args[4] + " lun 0 " + args[0] + " on " + portal[0] + ":"
                    + server.portals().getFirst().getPort());
            while (System.in.read() >= 0) {
                // nobody has anything to say
            }
        }
    }

    static TargetServer start(String device, String host, int port, String iqn)
            throws IOException {
        return TargetServer.builder().portal(host, port)
                .target(TargetSpec.of(iqn).withLun(0, Devices.open(device))).announceResets(false)
                .start();
    }
}
