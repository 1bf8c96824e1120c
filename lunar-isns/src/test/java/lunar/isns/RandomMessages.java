package lunar.isns;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random valid messages of every kind, determined by a seed. */
final class RandomMessages {
    private static final int[] NUMBERS = {2, 6, 17, 33, 50, 51};
    private static final int[] ADDRESSES = {3, 16, 49};
    private static final int[] TEXTS = {1, 18, 32, 34, 48};
    private static final int[] OTHERS = {0, 5, 19, 20, 36, 2065, -1, Integer.MIN_VALUE};

    private final Random random;

    RandomMessages(long seed) { random = new Random(seed); }

    Message next(int maxAttributes) {
        int transaction = random.nextInt(1 << 16);
        var attributes = new ArrayList<Attribute>();
        for (int i = random.nextInt(maxAttributes + 1); i > 0; i--) {
            attributes.add(attribute());
        }
        if (random.nextBoolean()) {
            return new Message.Response(Functions.RESPONSE | random.nextInt(0x8000), transaction,
                    random.nextInt(), attributes);
        }
        int function = random.nextInt(0x8000);
        return new Message.Request(function, random.nextBoolean(), transaction,
                function == Functions.HEARTBEAT ? List.of() : attributes);
    }

    private Attribute attribute() {
        return switch (random.nextInt(6)) {
            case 0 -> new Attribute.Empty(random.nextInt());
            case 1 -> new Attribute.Numeric(one(NUMBERS), random.nextInt());
            case 2 -> new Attribute.Time(Tags.TIMESTAMP, random.nextLong());
            case 3 -> new Attribute.Address(one(ADDRESSES), address());
            case 4 -> new Attribute.Text(one(TEXTS), text());
            default -> new Attribute.Opaque(one(OTHERS),
                    ByteBuffer.wrap(bytes(4 * (1 + random.nextInt(20)))));
        };
    }

    private int one(int[] tags) { return tags[random.nextInt(tags.length)]; }

    private InetAddress address() {
        try {
            return InetAddress.getByAddress(bytes(random.nextBoolean() ? 4 : 16));
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private String text() {
        int length = random.nextInt(50);
        var text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.appendCodePoint(
                    random.nextInt(8) == 0 ? 0x1f300 + i : 'a' + random.nextInt(26));
        }
        return text.toString();
    }

    private byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
