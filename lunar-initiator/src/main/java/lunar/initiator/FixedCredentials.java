package lunar.initiator;

import lunar.iscsi.login.ChapCredentials;

/** Credentials that do not change. */
record FixedCredentials(ChapCredentials credentials) implements ChapSource {
    @Override
    public ChapCredentials credentials(String targetName) { return credentials; }
}
