package lunar.scsi;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Additional sense code and qualifier (SPC-5), which specify the condition.
 *
 * @param asc ADDITIONAL SENSE CODE
 * @param ascq ADDITIONAL SENSE CODE QUALIFIER
 */
public record AdditionalSense(int asc, int ascq) {
    private static final Map<Integer, String> TEXTS = new HashMap<>();

    public static final AdditionalSense NONE = named(0x00, 0x00,
            "no additional sense information");
    public static final AdditionalSense OPERATION_IN_PROGRESS = named(0x00, 0x16,
            "operation in progress");
    public static final AdditionalSense NO_SEEK_COMPLETE = named(0x02, 0x00, "no seek complete");
    public static final AdditionalSense PERIPHERAL_DEVICE_WRITE_FAULT = named(0x03, 0x00,
            "peripheral device write fault");
    public static final AdditionalSense NOT_READY_CAUSE_NOT_REPORTABLE = named(0x04, 0x00,
            "logical unit not ready, cause not reportable");
    public static final AdditionalSense BECOMING_READY = named(0x04, 0x01,
            "logical unit is in process of becoming ready");
    public static final AdditionalSense INITIALIZING_COMMAND_REQUIRED = named(0x04, 0x02,
            "logical unit not ready, initializing command required");
    public static final AdditionalSense MANUAL_INTERVENTION_REQUIRED = named(0x04, 0x03,
            "logical unit not ready, manual intervention required");
    public static final AdditionalSense FORMAT_IN_PROGRESS = named(0x04, 0x04,
            "logical unit not ready, format in progress");
    public static final AdditionalSense NOT_READY_OPERATION_IN_PROGRESS = named(0x04, 0x07,
            "logical unit not ready, operation in progress");
    public static final AdditionalSense SELF_TEST_IN_PROGRESS = named(0x04, 0x09,
            "logical unit not ready, self-test in progress");
    public static final AdditionalSense ASYMMETRIC_ACCESS_STATE_TRANSITION = named(0x04, 0x0a,
            "logical unit not accessible, asymmetric access state transition");
    public static final AdditionalSense TARGET_PORT_IN_STANDBY_STATE = named(0x04, 0x0b,
            "logical unit not accessible, target port in standby state");
    public static final AdditionalSense TARGET_PORT_IN_UNAVAILABLE_STATE = named(0x04, 0x0c,
            "logical unit not accessible, target port in unavailable state");
    public static final AdditionalSense SPACE_ALLOCATION_IN_PROGRESS = named(0x04, 0x14,
            "logical unit not ready, space allocation in progress");
    public static final AdditionalSense SANITIZE_IN_PROGRESS = named(0x04, 0x1b,
            "logical unit not ready, sanitize in progress");
    public static final AdditionalSense NO_RESPONSE_TO_SELECTION = named(0x05, 0x00,
            "logical unit does not respond to selection");
    public static final AdditionalSense COMMUNICATION_FAILURE = named(0x08, 0x00,
            "logical unit communication failure");
    public static final AdditionalSense COMMUNICATION_TIMEOUT = named(0x08, 0x01,
            "logical unit communication time-out");
    public static final AdditionalSense UNREACHABLE_COPY_TARGET = named(0x08,
            0x04, "unreachable copy target");
    public static final AdditionalSense ERROR_LOG_OVERFLOW = named(0x0a, 0x00,
            "error log overflow");
    public static final AdditionalSense WARNING = named(0x0b, 0x00, "warning");
    public static final AdditionalSense WRITE_ERROR = named(0x0c, 0x00, "write error");
    public static final AdditionalSense WRITE_ERROR_AUTO_REALLOCATED = named(0x0c, 0x01,
            "write error, recovered with auto reallocation");
    public static final AdditionalSense WRITE_ERROR_REALLOCATION_FAILED = named(0x0c, 0x02,
            "write error, auto reallocation failed");
    public static final AdditionalSense NOT_ENOUGH_UNSOLICITED_DATA = named(0x0c, 0x0d,
            "write error, not enough unsolicited data");
    public static final AdditionalSense INCORRECT_COPY_TARGET_DEVICE_TYPE = named(0x0d, 0x03,
            "incorrect copy target device type");
    public static final AdditionalSense COPY_TARGET_DEVICE_DATA_UNDERRUN = named(0x0d,
            0x04, "copy target device data underrun");
    public static final AdditionalSense INVALID_INFORMATION_UNIT = named(0x0e, 0x00,
            "invalid information unit");
    public static final AdditionalSense INVALID_FIELD_IN_COMMAND_INFORMATION_UNIT = named(0x0e,
            0x03, "invalid field in command information unit");
    public static final AdditionalSense GUARD_CHECK_FAILED = named(0x10, 0x01,
            "logical block guard check failed");
    public static final AdditionalSense APPLICATION_TAG_CHECK_FAILED = named(0x10, 0x02,
            "logical block application tag check failed");
    public static final AdditionalSense REFERENCE_TAG_CHECK_FAILED = named(0x10, 0x03,
            "logical block reference tag check failed");
    public static final AdditionalSense UNRECOVERED_READ_ERROR = named(0x11, 0x00,
            "unrecovered read error");
    public static final AdditionalSense READ_RETRIES_EXHAUSTED = named(0x11, 0x01,
            "read retries exhausted");
    public static final AdditionalSense READ_ERROR_MARKED_BAD = named(0x11, 0x14,
            "read error, logical block marked bad by application client");
    public static final AdditionalSense RECOVERED_WITH_RETRIES = named(0x17, 0x01,
            "recovered data with retries");
    public static final AdditionalSense RECOVERED_WITH_ERROR_CORRECTION = named(0x18, 0x00,
            "recovered data with error correction applied");
    public static final AdditionalSense PARAMETER_LIST_LENGTH_ERROR = named(0x1a, 0x00,
            "parameter list length error");
    public static final AdditionalSense MISCOMPARE_DURING_VERIFY = named(0x1d, 0x00,
            "miscompare during verify operation");
    public static final AdditionalSense INVALID_COMMAND_OPERATION_CODE = named(0x20, 0x00,
            "invalid command operation code");
    public static final AdditionalSense ACCESS_DENIED_NO_ACCESS_RIGHTS = named(0x20, 0x02,
            "access denied, no access rights");
    public static final AdditionalSense LBA_OUT_OF_RANGE = named(0x21, 0x00,
            "logical block address out of range");
    public static final AdditionalSense UNSUPPORTED_TOKEN_TYPE = named(0x23,
            0x01, "invalid token operation, unsupported token type");
    public static final AdditionalSense TOKEN_UNKNOWN = named(0x23,
            0x04, "invalid token operation, token unknown");
    public static final AdditionalSense TOKEN_CORRUPT = named(0x23,
            0x05, "invalid token operation, token corrupt");
    public static final AdditionalSense TOKEN_REVOKED = named(0x23,
            0x06, "invalid token operation, token revoked");
    public static final AdditionalSense TOKEN_EXPIRED = named(0x23,
            0x07, "invalid token operation, token expired");
    public static final AdditionalSense TOKEN_DELETED = named(0x23,
            0x09, "invalid token operation, token deleted");
    public static final AdditionalSense INVALID_TOKEN_LENGTH = named(0x23,
            0x0a, "invalid token operation, invalid token length");
    public static final AdditionalSense INVALID_FIELD_IN_CDB = named(0x24, 0x00,
            "invalid field in CDB");
    public static final AdditionalSense SECURITY_AUDIT_VALUE_FROZEN = named(0x24, 0x04,
            "security audit value frozen");
    public static final AdditionalSense SECURITY_WORKING_KEY_FROZEN = named(0x24, 0x05,
            "security working key frozen");
    public static final AdditionalSense NONCE_NOT_UNIQUE = named(0x24, 0x06, "nonce not unique");
    public static final AdditionalSense NONCE_TIMESTAMP_OUT_OF_RANGE = named(0x24, 0x07,
            "nonce timestamp out of range");
    public static final AdditionalSense LOGICAL_UNIT_NOT_SUPPORTED = named(0x25, 0x00,
            "logical unit not supported");
    public static final AdditionalSense INVALID_FIELD_IN_PARAMETER_LIST = named(0x26, 0x00,
            "invalid field in parameter list");
    public static final AdditionalSense PARAMETER_NOT_SUPPORTED = named(0x26, 0x01,
            "parameter not supported");
    public static final AdditionalSense PARAMETER_VALUE_INVALID = named(0x26, 0x02,
            "parameter value invalid");
    public static final AdditionalSense INVALID_RELEASE_OF_PERSISTENT_RESERVATION = named(0x26,
            0x04, "invalid release of persistent reservation");
    public static final AdditionalSense TOO_MANY_TARGET_DESCRIPTORS = named(0x26, 0x06,
            "too many target descriptors");
    public static final AdditionalSense UNSUPPORTED_TARGET_DESCRIPTOR_TYPE = named(0x26, 0x07,
            "unsupported target descriptor type code");
    public static final AdditionalSense TOO_MANY_SEGMENT_DESCRIPTORS = named(0x26, 0x08,
            "too many segment descriptors");
    public static final AdditionalSense UNSUPPORTED_SEGMENT_DESCRIPTOR_TYPE = named(0x26, 0x09,
            "unsupported segment descriptor type code");
    public static final AdditionalSense UNEXPECTED_INEXACT_SEGMENT = named(0x26,
            0x0a, "unexpected inexact segment");
    public static final AdditionalSense INVALID_OPERATION_FOR_COPY = named(0x26,
            0x0c, "invalid operation for copy source or destination");
    public static final AdditionalSense INVALID_DATA_OUT_BUFFER_INTEGRITY_CHECK_VALUE = named(0x26,
            0x0f, "invalid data-out buffer integrity check value");
    public static final AdditionalSense WRITE_PROTECTED = named(0x27, 0x00, "write protected");
    public static final AdditionalSense HARDWARE_WRITE_PROTECTED = named(0x27, 0x01,
            "hardware write protected");
    public static final AdditionalSense SOFTWARE_WRITE_PROTECTED = named(0x27, 0x02,
            "logical unit software write protected");
    public static final AdditionalSense SPACE_ALLOCATION_FAILED = named(0x27, 0x07,
            "space allocation failed write protect");
    public static final AdditionalSense MEDIUM_MAY_HAVE_CHANGED = named(0x28, 0x00,
            "not ready to ready change, medium may have changed");
    public static final AdditionalSense RESET_OCCURRED = named(0x29, 0x00,
            "power on, reset, or bus device reset occurred");
    public static final AdditionalSense POWER_ON_OCCURRED = named(0x29, 0x01, "power on occurred");
    public static final AdditionalSense BUS_RESET_OCCURRED = named(0x29, 0x02,
            "SCSI bus reset occurred");
    public static final AdditionalSense BUS_DEVICE_RESET_OCCURRED = named(0x29, 0x03,
            "bus device reset function occurred");
    public static final AdditionalSense DEVICE_INTERNAL_RESET = named(0x29, 0x04,
            "device internal reset");
    public static final AdditionalSense NEXUS_LOSS_OCCURRED = named(0x29, 0x07,
            "I_T nexus loss occurred");
    public static final AdditionalSense PARAMETERS_CHANGED = named(0x2a, 0x00,
            "parameters changed");
    public static final AdditionalSense MODE_PARAMETERS_CHANGED = named(0x2a, 0x01,
            "mode parameters changed");
    public static final AdditionalSense LOG_PARAMETERS_CHANGED = named(0x2a, 0x02,
            "log parameters changed");
    public static final AdditionalSense RESERVATIONS_PREEMPTED = named(0x2a, 0x03,
            "reservations preempted");
    public static final AdditionalSense RESERVATIONS_RELEASED = named(0x2a, 0x04,
            "reservations released");
    public static final AdditionalSense REGISTRATIONS_PREEMPTED = named(0x2a, 0x05,
            "registrations preempted");
    public static final AdditionalSense ASYMMETRIC_ACCESS_STATE_CHANGED = named(0x2a, 0x06,
            "asymmetric access state changed");
    public static final AdditionalSense CAPACITY_DATA_HAS_CHANGED = named(0x2a, 0x09,
            "capacity data has changed");
    public static final AdditionalSense TIMESTAMP_CHANGED = named(0x2a, 0x10,
            "timestamp changed");
    public static final AdditionalSense COPY_CANNOT_EXECUTE = named(0x2b, 0x00,
            "copy cannot execute since host cannot disconnect");
    public static final AdditionalSense COMMAND_SEQUENCE_ERROR = named(0x2c, 0x00,
            "command sequence error");
    public static final AdditionalSense PREVIOUS_RESERVATION_CONFLICT_STATUS = named(0x2c, 0x09,
            "previous reservation conflict status");
    public static final AdditionalSense CONTAINS_USER_OBJECTS = named(0x2c, 0x0a,
            "partition or collection contains user objects");
    public static final AdditionalSense COMMANDS_CLEARED_BY_ANOTHER_INITIATOR = named(0x2f, 0x00,
            "commands cleared by another initiator");
    public static final AdditionalSense INCOMPATIBLE_MEDIUM_INSTALLED = named(0x30, 0x00,
            "incompatible medium installed");
    public static final AdditionalSense MEDIUM_FORMAT_CORRUPTED = named(0x31, 0x00,
            "medium format corrupted");
    public static final AdditionalSense FORMAT_COMMAND_FAILED = named(0x31, 0x01,
            "format command failed");
    public static final AdditionalSense SANITIZE_COMMAND_FAILED = named(0x31, 0x03,
            "sanitize command failed");
    public static final AdditionalSense THIN_PROVISIONING_SOFT_THRESHOLD = named(0x38, 0x07,
            "thin provisioning soft threshold reached");
    public static final AdditionalSense SAVING_PARAMETERS_NOT_SUPPORTED = named(0x39, 0x00,
            "saving parameters not supported");
    public static final AdditionalSense MEDIUM_NOT_PRESENT = named(0x3a, 0x00,
            "medium not present");
    public static final AdditionalSense READ_PAST_END_OF_USER_OBJECT = named(0x3b, 0x17,
            "read past end of user object");
    public static final AdditionalSense LOGICAL_UNIT_FAILED_SELF_TEST = named(0x3e, 0x03,
            "logical unit failed self-test");
    public static final AdditionalSense TARGET_OPERATING_CONDITIONS_CHANGED = named(0x3f, 0x00,
            "target operating conditions have changed");
    public static final AdditionalSense MICROCODE_HAS_BEEN_CHANGED = named(0x3f, 0x01,
            "microcode has been changed");
    public static final AdditionalSense INQUIRY_DATA_HAS_CHANGED = named(0x3f, 0x03,
            "INQUIRY data has changed");
    public static final AdditionalSense DEVICE_IDENTIFIER_CHANGED = named(0x3f, 0x05,
            "device identifier changed");
    public static final AdditionalSense REPORTED_LUNS_DATA_HAS_CHANGED = named(0x3f, 0x0e,
            "reported LUNs data has changed");
    public static final AdditionalSense MESSAGE_ERROR = named(0x43, 0x00, "message error");
    public static final AdditionalSense INTERNAL_TARGET_FAILURE = named(0x44, 0x00,
            "internal target failure");
    public static final AdditionalSense SELECT_OR_RESELECT_FAILURE = named(0x45, 0x00,
            "select or reselect failure");
    public static final AdditionalSense SCSI_PARITY_ERROR = named(0x47, 0x00, "SCSI parity error");
    public static final AdditionalSense PROTOCOL_SERVICE_CRC_ERROR = named(0x47, 0x05,
            "protocol service CRC error");
    public static final AdditionalSense INITIATOR_DETECTED_ERROR = named(0x48, 0x00,
            "initiator detected error message received");
    public static final AdditionalSense DATA_PHASE_ERROR = named(0x4b, 0x00, "data phase error");
    public static final AdditionalSense INITIATOR_RESPONSE_TIMEOUT = named(0x4b, 0x06,
            "initiator response timeout");
    public static final AdditionalSense OVERLAPPED_COMMANDS_ATTEMPTED = named(0x4e, 0x00,
            "overlapped commands attempted");
    public static final AdditionalSense MEDIUM_REMOVAL_PREVENTED = named(0x53, 0x02,
            "medium removal prevented");
    public static final AdditionalSense SYSTEM_RESOURCE_FAILURE = named(0x55, 0x00,
            "system resource failure");
    public static final AdditionalSense INSUFFICIENT_RESOURCES = named(0x55, 0x03,
            "insufficient resources");
    public static final AdditionalSense INSUFFICIENT_REGISTRATION_RESOURCES = named(0x55, 0x04,
            "insufficient registration resources");
    public static final AdditionalSense QUOTA_ERROR = named(0x55, 0x07, "quota error");
    public static final AdditionalSense INSUFFICIENT_RESOURCES_TO_CREATE_ROD_TOKEN = named(0x55,
            0x0d, "insufficient resources to create ROD token");
    public static final AdditionalSense FAILURE_PREDICTION_THRESHOLD_EXCEEDED = named(0x5d, 0x00,
            "failure prediction threshold exceeded");
    public static final AdditionalSense FAILURE_PREDICTION_FALSE = named(0x5d, 0xff,
            "failure prediction threshold exceeded (false)");
    public static final AdditionalSense SET_TARGET_PORT_GROUPS_COMMAND_FAILED = named(0x67, 0x0a,
            "set target port groups command failed");

    /** First of the codes and qualifiers that vendors define. */
    private static final int VENDOR_SPECIFIC = 0x80;

    public AdditionalSense {
        if (asc < 0 || asc > 0xff || ascq < 0 || ascq > 0xff) {
            throw new IllegalArgumentException("additional sense " + asc + "/" + ascq);
        }
    }

    /** Returns the meaning of the code, in lower case; a generic text for a code without a constant here. */
    public String text() {
        String exact = TEXTS.get(index(asc, ascq));
        if (exact != null) {
            return exact;
        }
        if (asc >= VENDOR_SPECIFIC || ascq >= VENDOR_SPECIFIC) {
            return "vendor specific";
        }
        String general = TEXTS.get(index(asc, 0));
        return asc == 0 || general == null ? "unknown additional sense" : general + " (qualified)";
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%02Xh/%02Xh %s", asc, ascq, text());
    }

    private static AdditionalSense named(int asc, int ascq, String text) {
        String previous = TEXTS.put(index(asc, ascq), text);
        assert previous == null : previous;
        return new AdditionalSense(asc, ascq);
    }

    private static int index(int asc, int ascq) { return asc << 8 | ascq; }
}
