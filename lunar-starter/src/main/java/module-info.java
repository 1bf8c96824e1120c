/**
 * The iSCSI initiator ready to use: {@code iscsi:} over TCP, {@code ram:}, {@code file:} and {@code disk:} devices, and
 * filters over any of these. Has no code of its own: it requires the modules that {@link lunar.block.Devices#open} and
 * {@link lunar.initiator.Initiator} need at run time.
 */
module lunar.starter {
    requires transitive lunar.block;
    requires transitive lunar.filter;
    requires transitive lunar.initiator;
    requires transitive lunar.store;
    requires transitive lunar.tcp;
}
