package lunar.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A target on the loopback that behaves as scripted by a test, valid or not. Each connection runs the script on its own
 * thread; when the script returns or fails, the connection is closed.
 *
 * <pre>{@code
 * try (var target = ScriptedTarget.start(peer -> {
 *     peer.login();
 *     var command = peer.receive(ScsiCommand.class);
 *     peer.send(ScsiResponse.completed(0, command.itt(), ...));
 * })) { ... target.port() ... }
 * }</pre>
 */
public final class ScriptedTarget implements AutoCloseable {
    /** Runs a connection. */
    @FunctionalInterface
    public interface Script {
        void run(ScriptedPeer peer) throws Exception;
    }

    private final ServerSocket server;
    private final Script script;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final List<Throwable> failures = new CopyOnWriteArrayList<>();

    private ScriptedTarget(ServerSocket server, Script script) {
        this.server = server;
        this.script = script;
    }

    /** Listens on a free port. */
    public static ScriptedTarget start(Script script) {
        try {
            var server = new ServerSocket();
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            var target = new ScriptedTarget(server, script);
            Thread.ofVirtual().name("scripted-target").start(target::accept);
            return target;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where it listens. */
    public int port() { return server.getLocalPort(); }

    /** Host and port. */
    public String portal() { return "127.0.0.1:" + port(); }

    /** Returns what ended scripts other than the end of the connection: assertions, for example. */
    public List<Throwable> failures() {
        return failures;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                sockets.add(socket);
                Thread.ofVirtual().name("scripted-peer").start(() -> run(socket));
            } catch (IOException _) {
                return; // closed
            }
        }
    }

    private void run(Socket socket) {
        try (socket) {
            script.run(new ScriptedPeer(socket));
        } catch (IOException _) {
            // The peer has closed the connection, as many scripts intend.
        } catch (Throwable e) {
            failures.add(e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
