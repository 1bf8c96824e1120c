package lunar.osd.target;

import java.util.Set;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;
import lunar.osd.wire.security.Permission;

/** Capabilities with one field changed. */
final class Capabilities {
    private Capabilities() {}

    static Capability withFormat(Capability of, int value) {
        return new Capability(value, of.keyVersion(), of.integrityAlgorithm(),
                of.securityMethod(), of.expirationMs(), of.audit(), of.discriminator(),
                of.objectCreatedMs(), of.objectType(), of.permissions(), of.object());
    }

    static Capability withAlgorithm(Capability of, int value) {
        return new Capability(of.format(), of.keyVersion(), value, of.securityMethod(),
                of.expirationMs(), of.audit(), of.discriminator(), of.objectCreatedMs(),
                of.objectType(), of.permissions(), of.object());
    }

    static Capability withMethod(Capability of, int value) {
        return new Capability(of.format(), of.keyVersion(), of.integrityAlgorithm(), value,
                of.expirationMs(), of.audit(), of.discriminator(), of.objectCreatedMs(),
                of.objectType(), of.permissions(), of.object());
    }

    static Capability withTimes(Capability of, long expirationMs, long createdMs) {
        return new Capability(of.format(), of.keyVersion(), of.integrityAlgorithm(),
                of.securityMethod(), expirationMs, of.audit(), of.discriminator(), createdMs,
                of.objectType(), of.permissions(), of.object());
    }

    static Capability withType(Capability of, int value) {
        return new Capability(of.format(), of.keyVersion(), of.integrityAlgorithm(),
                of.securityMethod(), of.expirationMs(), of.audit(), of.discriminator(),
                of.objectCreatedMs(), value, of.permissions(), of.object());
    }

    static Capability withPermissions(Capability of, Set<Permission> value) {
        return new Capability(of.format(), of.keyVersion(), of.integrityAlgorithm(),
                of.securityMethod(), of.expirationMs(), of.audit(), of.discriminator(),
                of.objectCreatedMs(), of.objectType(), value, of.object());
    }

    static Capability withObject(Capability of, ObjectDescriptor value) {
        return new Capability(of.format(), of.keyVersion(), of.integrityAlgorithm(),
                of.securityMethod(), of.expirationMs(), of.audit(), of.discriminator(),
                of.objectCreatedMs(), of.objectType(), of.permissions(), value);
    }
}
