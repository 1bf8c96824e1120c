package lunar.target;

import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Optional;
import lunar.iscsi.spi.TlsFiles;
import lunar.iscsi.spi.Transports;
import lunar.iscsi.text.TargetAddress;

/**
 * Describes a portal: an address where this server, or another server of the same targets, listens. Immutable.
 *
 * @param address address to listen on; port 0 selects a free one. Unresolved and unused for a portal of another server
 * @param group target portal group tag, 1 to 65535 (RFC 7143 section 4.1.1)
 * @param advertised address under which initiators reach it, if different (NAT, container)
 * @param moved redirects initiators that log in here
 * @param transport scheme of the transport: {@code iscsi} for TCP, {@code iscsis} for TLS, {@code iser} for RDMA
 * @param elsewhere whether it is a portal of another server, which this server only reports to initiators
 * @param tls PEM files of a portal with TLS, read when it is listened on and at each
 *        {@link TargetServer#reconfigure reconfiguration}; other transports ignore them
 */
public record PortalSpec(InetSocketAddress address, int group, Optional<TargetAddress> advertised,
        Optional<Absence.Moved> moved, String transport, boolean elsewhere,
        TlsFiles tls) {
    /** The group of a portal without an explicit one. */
    public static final int DEFAULT_GROUP = 1;

    private static final int MAX_GROUP = 0xffff;

    public PortalSpec {
        Objects.requireNonNull(transport);
        if (elsewhere && advertised.isEmpty()) {
            throw new IllegalArgumentException(
                    "a portal of another server must have an advertised address");
        }
        if (group < 1 || group > MAX_GROUP) {
            throw new IllegalArgumentException(
                    "portal group tag must be 1 to " + MAX_GROUP + ", not " + group);
        }
    }

    /** Returns a portal of the default group over TCP, advertised under its own address. */
    public static PortalSpec of(InetSocketAddress address) {
        return new PortalSpec(address, DEFAULT_GROUP, Optional.empty(), Optional.empty(),
                Transports.ISCSI, false, TlsFiles.NONE);
    }

    /**
     * Returns a portal of another server of the same targets. Its group must not be a group of this server, because a
     * session cannot span servers.
     *
     * @param address where initiators reach it
     */
    public static PortalSpec ofOtherServer(TargetAddress address, int group) {
        return new PortalSpec(InetSocketAddress.createUnresolved(address.host(), address.port()),
                group, Optional.of(address), Optional.empty(), Transports.ISCSI, true,
                TlsFiles.NONE);
    }

    /** Returns the address in its usual notation. */
    @Override
    public String toString() {
        String host = address.getAddress() == null
                ? address.getHostString()
                : address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + address.getPort();
    }

    /** Returns a copy in another group. */
    public PortalSpec withGroup(int tag) {
        return new PortalSpec(address, tag, advertised, moved, transport, elsewhere, tls);
    }

    /** Returns a copy that is advertised to initiators under another address. */
    public PortalSpec withAdvertised(TargetAddress reachedAt) {
        return new PortalSpec(address, group, Optional.of(reachedAt), moved, transport, elsewhere,
                tls);
    }

    /** Returns a copy that redirects initiators. */
    public PortalSpec withMoved(Absence.Moved elsewhere) {
        return new PortalSpec(address, group, advertised, Optional.of(elsewhere), transport,
                this.elsewhere, tls);
    }

    /** Returns a copy that uses the transport of a scheme. */
    public PortalSpec withTransport(String scheme) {
        return new PortalSpec(address, group, advertised, moved, scheme, elsewhere, tls);
    }

    /** Returns a copy with other files for TLS, which the transport {@code iscsis} uses. */
    public PortalSpec withTls(TlsFiles files) {
        return new PortalSpec(address, group, advertised, moved, transport, elsewhere, files);
    }

    /** Whether both have the same address and transport. */
    public boolean hasPlaceOf(PortalSpec other) {
        return address.equals(other.address) && transport.equals(other.transport);
    }
}
