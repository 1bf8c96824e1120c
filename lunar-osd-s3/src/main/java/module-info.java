/** The S3 protocol over an object-based storage device. */
@SuppressWarnings("module") // the name of the protocol ends with a digit
module lunar.osd.s3 {
    requires static org.jspecify;
    requires java.xml;
    requires jdk.httpserver;
    requires lunar.block;
    requires transitive lunar.osd;
    requires transitive lunar.osd.client;

    exports lunar.osd.s3;
    exports lunar.osd.s3.backend;
}
