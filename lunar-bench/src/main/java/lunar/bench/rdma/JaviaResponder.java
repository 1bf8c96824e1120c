package lunar.bench.rdma;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import lunar.rdma.ProtectionDomain;
import lunar.rdma.Rdma;
import lunar.rdma.probe.Responder;

/** The other end of {@link JaviaBench}: prints the port that it listens on, and ends with its standard input. */
final class JaviaResponder {
    private JaviaResponder() {}

    /**
     * @param args name of the device
     */
    public static void main(String[] args) throws IOException {
        try (ProtectionDomain domain = Rdma.device(args[0]).open();
                var responder = new Responder(domain,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                    StandardCharsets.UTF_8);
            out.println(responder.address().getPort());
            while (System.in.read() >= 0) {
                // until its end
            }
        }
    }
}
