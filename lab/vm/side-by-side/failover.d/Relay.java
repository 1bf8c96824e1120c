import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Relays connections to ports of 127.0.0.1 to another one there: TO PORT... A path that a signal kills or stops. */
final class Relay {
    private Relay() {}

    public static void main(String[] arguments) throws IOException {
        int to = Integer.parseInt(arguments[0]);
        for (int i = 1; i < arguments.length; i++) {
            var listener = new ServerSocket(Integer.parseInt(arguments[i]), 128,
                    InetAddress.getLoopbackAddress());
            Thread.ofPlatform().start(() -> accept(listener, to));
        }
    }

    private static void accept(ServerSocket listener, int to) {
        while (true) {
            try {
                Socket near = listener.accept();
                var far = new Socket(InetAddress.getLoopbackAddress(), to);
                near.setTcpNoDelay(true);
                far.setTcpNoDelay(true);
                Thread.ofVirtual().start(() -> copy(near, far));
                Thread.ofVirtual().start(() -> copy(far, near));
            } catch (IOException e) {
                System.err.println("relay: " + e);
            }
        }
    }

    private static void copy(Socket from, Socket to) {
        try (from; to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // one of them has ended, and the other one ends now
        }
    }
}
