package lunar.it;

import java.security.NoSuchAlgorithmException;
import java.security.Provider;
import java.security.Security;
import java.util.List;
import java.util.Map;

/** Removes MD5 from this JVM's providers, as FIPS 140 requires, until it is closed; their other algorithms stay. */
final class JavaWithoutMd5 extends Provider implements AutoCloseable {
    private static final long serialVersionUID = 1;

    private final Provider whole;
    private final int place;

    JavaWithoutMd5() {
        super("SUN-without-MD5", "1", "for tests");
        whole = Security.getProvider("SUN");
        place = List.of(Security.getProviders()).indexOf(whole) + 1;
        for (Service service : whole.getServices()) {
            if (!service.getAlgorithm().equals("MD5")) {
                putService(new Lent(this, service));
            }
        }
        Security.removeProvider(whole.getName());
        Security.insertProviderAt(this, place);
    }

    @Override
    public void close() {
        Security.removeProvider(getName());
        Security.insertProviderAt(whole, place);
    }

    private static final class Lent extends Service {
        private final Service service;

        Lent(Provider provider, Service service) {
            super(provider, service.getType(), service.getAlgorithm(), service.getClassName(),
                    service.getAlgorithm().equals("SHA-1") ? List.of("SHA", "SHA1") : List.of(),
                    Map.of());
            this.service = service;
        }

        @Override
        public Object newInstance(Object parameter) throws NoSuchAlgorithmException {
            return service.newInstance(parameter);
        }
    }
}
