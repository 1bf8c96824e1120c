package lunar.osd.wire.command;

import java.util.Set;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.SecurityParameters;

/**
 * The fields that every CDB has.
 *
 * @param version layout of the CDB
 * @param options options byte and timestamps control
 * @param attributes attributes to get and set
 * @param capability capability
 * @param security security parameters
 */
public record CommonFields(OsdVersion version, CommandOptions options,
        AttributeParameters attributes, Capability capability, SecurityParameters security) {
    public CommonFields {
        boolean isolated = options.isolation() != Isolation.DEFAULT;
        if ((isolated && version == OsdVersion.OSD_1) || !attributes.isIn(version)
                || !capability.fits(version) || !security.fits(version)) {
            throw new IllegalArgumentException("not in " + version + ": " + options + ", "
                    + attributes + ", " + capability + ", " + security);
        }
    }

    /** Default options, no attributes, no capability. */
    public static CommonFields of(OsdVersion version) {
        return new CommonFields(version, CommandOptions.DEFAULT, ListParameters.NONE,
                Capability.NONE, SecurityParameters.none(version));
    }

    /** Returns these fields with other options. */
    public CommonFields withOptions(CommandOptions value) {
        return new CommonFields(version, value, attributes, capability, security);
    }

    /** Returns these fields with other attributes. */
    public CommonFields withAttributes(AttributeParameters value) {
        return new CommonFields(version, options, value, capability, security);
    }

    /** Returns these fields with another capability. */
    public CommonFields withCapability(Capability value) {
        return new CommonFields(version, options, attributes, value, security);
    }

    /** Returns these fields with other security parameters. */
    public CommonFields withSecurity(SecurityParameters value) {
        return new CommonFields(version, options, attributes, capability, value);
    }

    /** Refuses a service action that is not of a group, or not in the version: a mistake of our own. */
    void check(ServiceAction action, Set<ServiceAction> group) {
        if (!group.contains(action) || !action.isIn(version)) {
            throw new IllegalArgumentException(action + " in " + version);
        }
    }

    /** Refuses a continuation length that the version does not have: a mistake of our own. */
    void checkContinuation(long length) {
        if (length != 0
                && (version == OsdVersion.OSD_1 || !CdbLayout.isContinuationLength(length))) {
            throw new IllegalArgumentException(
                    "CDB continuation length " + length + " in " + version);
        }
    }
}
