/**
 * Credentials of commands for devices with security (CAPKEY, CMDRSP, ALLDATA). {@link
 * lunar.osd.client.OsdOptions#withCredentials} takes a {@link lunar.osd.client.security.CredentialSource}: {@link
 * lunar.osd.client.security.CredentialSet} has credentials that somebody has issued, {@link
 * lunar.osd.client.security.CredentialIssuer} has the master key and issues them.
 *
 * {@snippet :
 * var issuer = new CredentialIssuer(key, SecurityMethod.CMDRSP);
 * try (var connection = OsdConnection.open(uri, OsdOptions.DEFAULT.withCredentials(issuer))) {
 *     UserObject cat = connection.osd().partition(0x1_0000).object(0x1_0001);
 *     Credential forSomebody = issuer.issue(connection.osd().secured(), Grant.of(cat.id(), Permission.READ)
 *             .until(Instant.now().plus(Duration.ofHours(1))));
 * }
 * }
 *
 * <p>Thread-safe.
 */
@NullMarked
package lunar.osd.client.security;

import org.jspecify.annotations.NullMarked;
