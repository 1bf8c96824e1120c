// Builds the project like pom.xml, from the same repository. PublishIT does so where there is a Gradle that runs on Java 25.
plugins {
    application
}

repositories {
    maven {
        url = uri(providers.gradleProperty("lunar.repository").get())
    }
}

dependencies {
    implementation(platform("org.lunar:lunar-bom:${providers.gradleProperty("lunar.version").get()}"))
    implementation("org.lunar:lunar-starter")
    implementation("org.lunar:lunar-target")
    implementation("org.lunar:lunar-server")
}

tasks.withType<JavaCompile>().configureEach {
    options.release = 25
}

// The module-info.java makes `gradle run` use the module path.
application {
    mainModule = "org.example.storage"
    mainClass = providers.gradleProperty("main").orElse("org.example.storage.Main")
}

tasks.register<JavaExec>("runOnClassPath") {
    classpath = sourceSets.main.get().runtimeClasspath
    mainClass = providers.gradleProperty("main").orElse("org.example.storage.Main")
    modularity.inferModulePath = false
}
