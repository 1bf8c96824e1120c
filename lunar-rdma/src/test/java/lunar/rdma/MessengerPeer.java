package lunar.rdma;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import lunar.rdma.message.MessageListener;
import lunar.rdma.message.Messenger;
import lunar.rdma.message.MessengerOptions;

/**
 * Test peer in another process: prints the port that it listens on, accepts one connection, and answers messages. It
 * answers {@code where} by the address, key and length of memory that the peer may read and write, and {@code what} by
 * the text in this memory. After {@code quiet} it no longer answers; after {@code write} with an address and a key it
 * writes its memory there over and over. It echoes any other message.
 */
final class MessengerPeer {
    static final int BYTES = 1 << 20;

    private MessengerPeer() {}

    public static void main(String[] args) throws Exception {
        var options = MessengerOptions.DEFAULT.withTimeout(60_000);
        try (ProtectionDomain domain = Rdma.device(args[0]).open();
                MemoryPool pool = domain.createPool(1, BYTES, Access.ALL);
                var listener = new MessageListener(domain, new InetSocketAddress("127.0.0.1", 0),
                        options)) {
            System.out.println(listener.address().getPort());
            try (Messenger peer = listener.accept(0)) {
                answer(peer, pool.take());
            }
        }
    }

    private static void answer(Messenger peer, MemorySlice memory) throws Exception {
        memory.segment().setString(0, "memory of the peer");
        while (true) {
            byte[] message;
            try {
                message = peer.receive(0);
            } catch (ConnectionException e) {
                return;
            }
            String text = new String(message, StandardCharsets.UTF_8);
            String[] words = text.split(" ");
            switch (words[0]) {
                case "write" -> {
                    var remote = new RemoteMemory(Long.parseLong(words[1]),
                            Integer.parseInt(words[2]), BYTES);
                    while (true) {
                        peer.write(memory, 0, BYTES, remote);
                    }
                }
                case "where" -> {
                    RemoteMemory remote = memory.remote();
                    peer.send((remote.address() + " " + remote.key() + " " + remote.byteSize())
                            .getBytes(StandardCharsets.UTF_8));
                }
                case "what" -> peer.send(
                        memory.segment().getString(0).getBytes(StandardCharsets.UTF_8));
                case "quiet" -> Thread.sleep(Long.MAX_VALUE);
                default -> peer.send(message);
            }
        }
    }
}
