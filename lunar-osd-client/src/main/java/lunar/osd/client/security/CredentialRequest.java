package lunar.osd.client.security;

import lunar.osd.security.RequiredAccess;
import lunar.osd.wire.command.OsdCdb;

/**
 * A command that needs a credential.
 *
 * @param command the command; attributes, capability and security parameters are not there yet
 * @param access what the capability has to allow, for the attributes too
 * @param device the device
 */
public record CredentialRequest(OsdCdb command, RequiredAccess access, SecuredDevice device) {}
