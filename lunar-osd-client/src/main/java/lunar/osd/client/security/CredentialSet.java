package lunar.osd.client.security;

import java.util.List;
import lunar.osd.security.Credential;
import lunar.osd.security.RequiredAccess;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.ObjectDescriptor;

/**
 * Credentials that somebody has issued. A command gets the first that permits it, as far as its object, its type and
 * the permissions tell. Immutable.
 */
public final class CredentialSet implements CredentialSource {
    private final List<Credential> credentials;

    /** @param credentials of OSD-2, at least one */
    public CredentialSet(List<Credential> credentials) {
        this.credentials = List.copyOf(credentials);
        if (credentials.isEmpty()) {
            throw new IllegalArgumentException("no credential");
        }
    }

    @Override
    public Credential credential(CredentialRequest request) throws NoCredentialException {
        ObjectId object = request.command().object();
        return credentials.stream()
                .filter(each -> permits(each, object, request.access())).findFirst()
                .orElseThrow(() -> new NoCredentialException("no credential permits "
                        + request.command().action() + " of " + object + ", which needs "
                        + request.access().permissions() + " of a "
                        + request.access().type()));
    }

    private static boolean permits(Credential credential, ObjectId object,
            RequiredAccess access) {
        Capability capability = credential.capability();
        ObjectDescriptor descriptor = capability.object();
        boolean whole = descriptor.type() == ObjectDescriptor.TYPE_PARTITION
                && (access.type() == ObjectType.USER_OBJECT
                        || access.type() == ObjectType.COLLECTION);
        boolean sameObject = descriptor.allowed().partition() == object.partition()
                && descriptor.allowed().object() == (whole ? 0 : object.object());
        return credential.version() == OsdVersion.OSD_2 && sameObject
                && capability.objectType() == access.type().code()
                && capability.permissions().containsAll(access.permissions());
    }
}
