package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import lunar.iscsi.spi.TlsFiles;
import lunar.target.PortalSpec;
import org.junit.jupiter.api.Test;

/** Tests which hosts of portals are resolved, and when. */
class PortalAddressesTest {
    private static final ServerPlan.Listen PORTAL = ServerPlan.Listen.on("san.example", 3260);

    private final List<String> resolved = new ArrayList<>();

    /** Each host has another address each time. */
    private final PortalAddresses none = PortalAddresses.none(host -> {
        if (host.isEmpty()) {
            throw new UnknownHostException(host);
        }
        resolved.add(host);
        return InetAddress.getByAddress(new byte[]{10, 0, 0, (byte) resolved.size()});
    });

    private static ServerPlan plan(ServerPlan.Listen... portals) {
        return ServerPlan.of(List.of(portals), List.of());
    }

    private static List<String> addresses(PortalAddresses of, ServerPlan plan) {
        return of.portals(plan).stream().map(PortalSpec::address)
                .map(at -> at.getAddress().getHostAddress() + ":" + at.getPort()).toList();
    }

    @Test
    void shouldKeepAddressesWhileHostAndPortStay() throws Exception {
        PortalAddresses first = none.of(plan(PORTAL));
        assertThat(addresses(first, plan(PORTAL))).containsExactly("10.0.0.1:3260");
        ServerPlan.Listen changed = PORTAL.withTransport("iscsis").withTls(TlsFiles.NONE);
        ServerPlan both = plan(ServerPlan.Listen.on("b.example", 3260), changed);
        PortalAddresses second = first.of(both);
        assertThat(addresses(second, both)).containsExactly("10.0.0.2:3260", "10.0.0.1:3260");
        assertThat(second.portals(both)).last().extracting(PortalSpec::transport)
                .isEqualTo("iscsis");
        assertThat(resolved).containsExactly("san.example", "b.example");
    }

    @Test
    void shouldResolveWhatIsNew() throws Exception {
        PortalAddresses first = none.of(plan(PORTAL));
        ServerPlan moved = plan(ServerPlan.Listen.on("san.example", 3261));
        assertThat(addresses(first.of(moved), moved)).containsExactly("10.0.0.2:3261");
        assertThat(addresses(first.of(moved).of(plan(PORTAL)), plan(PORTAL)))
                .as("of a portal that was removed meanwhile").containsExactly("10.0.0.4:3260");
    }

    @Test
    void shouldRefuseWhatIsNoPlaceToListen() {
        assertThatThrownBy(() -> none.of(plan(ServerPlan.Listen.on("", 3260))))
                .isInstanceOf(InvalidPlanException.class).hasMessageContaining("unknown host ''");
        assertThatThrownBy(() -> none.of(plan(ServerPlan.Listen.on("san.example", 65536))))
                .isInstanceOf(InvalidPlanException.class).hasMessageContaining("65536");
    }
}
