package lunar.osd.client;

import lunar.osd.wire.ObjectId;

/** The root object: attributes of the device as a whole. */
public final class RootObject extends OsdObject {
    RootObject(OsdCalls calls) { super(calls, ObjectId.ROOT); }
}
