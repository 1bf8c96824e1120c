package lunar.server;

/**
 * A LUN of a running server that was changed.
 *
 * @param iqn name of its target
 * @param lun its LUN
 * @param change the configuration before and after
 */
public record ChangedLun(String iqn, int lun, ServerChange change) {}
