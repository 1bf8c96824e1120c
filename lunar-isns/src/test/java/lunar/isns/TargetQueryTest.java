package lunar.isns;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests responses about targets, in the attribute orders of different name servers. */
class TargetQueryTest {
    private static final String ONE = "iqn.2026-11.org.lunar:one";
    private static final String TWO = "iqn.2026-11.org.lunar:two";

    private final List<Attribute> answer = new ArrayList<>(List.of(Attribute.DELIMITER));

    private static InetAddress ip(String address) throws Exception {
        return InetAddress.getByName(address);
    }

    private static StorageNode.Portal portal(String address, int port) throws Exception {
        return new StorageNode.Portal(ip(address), port);
    }

    private void node(String name) { answer.add(new Attribute.Text(Tags.NODE_NAME, name)); }

    private void portal(InetAddress address, int port) {
        answer.add(new Attribute.Address(Tags.PORTAL_ADDRESS, address));
        answer.add(new Attribute.Numeric(Tags.PORTAL_PORT, port));
    }

    private void group(String name, String address, int port, Attribute tag) throws Exception {
        answer.add(new Attribute.Text(Tags.GROUP_NODE_NAME, name));
        answer.add(new Attribute.Address(Tags.GROUP_ADDRESS, ip(address)));
        answer.add(new Attribute.Numeric(Tags.GROUP_PORT, port));
        answer.add(tag);
    }

    private static Attribute tag(int number) {
        return new Attribute.Numeric(Tags.GROUP_TAG, number);
    }

    private List<StorageNode> read() {
        return TargetQuery
                .targets(new Message.Response(0x8002, 1, Status.SUCCESSFUL, answer));
    }

    @Test
    void shouldReadGroupsBesideTheirPortals() throws Exception {
        node(ONE);
        answer.add(new Attribute.Text(Tags.NODE_ALIAS, "left"));
        portal(ip("10.0.0.1"), 3260);
        group(ONE, "10.0.0.1", 3260, tag(7));
        portal(ip("10.0.0.2"), 3261);
        group(ONE, "10.0.0.2", 3261, tag(8));
        node(TWO);
        portal(ip("10.0.0.1"), 3260);
        group(TWO, "10.0.0.1", 3260, tag(9));
        assertThat(read()).containsExactly(
                new StorageNode(ONE, "left",
                        Map.of(portal("10.0.0.1", 3260), 7, portal("10.0.0.2", 3261), 8)),
                new StorageNode(TWO, "", Map.of(portal("10.0.0.1", 3260), 9)));
    }

    @Test
    void shouldReadGroupsAfterAllPortals() throws Exception {
        node(ONE);
        portal(ip("10.0.0.1"), 3260);
        portal(ip("10.0.0.2"), 3261);
        portal(ip("10.0.0.3"), 3261);
        group(ONE, "10.0.0.1", 3260, tag(7));
        group(ONE, "10.0.0.2", 3261, new Attribute.Empty(Tags.GROUP_TAG)); // NULL: not there
        assertThat(read()).containsExactly(new StorageNode(ONE, "",
                Map.of(portal("10.0.0.1", 3260), 7, portal("10.0.0.3", 3261), 1)));
    }

    @Test
    void shouldReadAddressesHoweverTheyAreWritten() throws Exception {
        node(ONE);
        portal(ip("::10.0.0.1"), 0);
        portal(ip("2001:db8::1"), 3260);
        portal(ip("::1"), 3260);
        assertThat(read().getFirst().portals().keySet()).map(StorageNode.Portal::toString)
                .containsExactly("10.0.0.1:3260", "[2001:db8:0:0:0:0:0:1]:3260",
                        "[0:0:0:0:0:0:0:1]:3260");
    }

    @Test
    void shouldOmitUnusableEntries() throws Exception {
        portal(ip("10.0.0.1"), 3260); // of no node
        node(ONE);
        answer.add(new Attribute.Numeric(Tags.PORTAL_PORT, 3260)); // no address
        portal(ip("0.0.0.0"), 3260);
        portal(ip("10.0.0.1"), 0x10000 | 3260); // UDP
        node("iqn.2026-11.org.lunar:\u001b[2J"); // would clear the screen
        portal(ip("10.0.0.9"), 3260);
        group("iqn.2026-11.org.lunar:unknown", "10.0.0.1", 3260, tag(3));
        assertThat(read()).containsExactly(new StorageNode(ONE, "", Map.of()));
    }
}
