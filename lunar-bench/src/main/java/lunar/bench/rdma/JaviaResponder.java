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

/** Peer process of {@link JaviaBench}: prints the port that it listens on, and exits at the end of standard input. */
final class JaviaResponder {
    private JaviaResponder() {}

    /**
     * @param args the name of the device
     */
    public static void main(String[] args) throws IOException {
        try (ProtectionDomain domain = Rdma.device(args[0]).open();
                var responder = new Responder(domain,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            var out = new PrintStream(new FileOutputStream(FileDescriptor.out), true,
                    StandardCharsets.UTF_8);
            out.println(responder.address().getPort());
            while (System.in.read() >= 0) {
                // wait for the end of the input
            }
        }
    }
}
