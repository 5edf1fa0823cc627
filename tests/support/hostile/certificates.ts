/** Certificates of servers with one thing wrong with them, signed by the authority that loopback clients trust. */
import { createPublicKey, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { type Certificate, createAuthority, der as asn1, issue } from "binnacle-apiserver";
import { loopbackAuthority } from "../loopback-server.ts";

const { bits, boolean, explicit, identifier, integer, octets, sequence, set, text, time, value } = asn1;

const SERVER = "1.3.6.1.5.5.7.3.1";
const CLIENT = "1.3.6.1.5.5.7.3.2";
const DAY = 24 * 60 * 60 * 1000;

interface Wanted {
  readonly address?: string;
  readonly usage?: string;
  readonly from?: Date;
  readonly until?: Date;
}

/** Written by hand, because the product's own code makes none that is wrong. */
function certificate(options: Wanted, signer?: Certificate | "itself"): Certificate {
  const {
    address = "127.0.0.1",
    usage = SERVER,
    from = new Date(Date.now() - DAY),
    until = new Date(Date.now() + DAY),
  } = options;
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const name = (commonName: string): Buffer => sequence(set(sequence(identifier("2.5.4.3"), text(commonName))));
  const extension = (type: string, content: Buffer, critical = false): Buffer =>
    sequence(identifier(type), ...(critical ? [boolean(true)] : []), octets(content));
  const algorithm = sequence(identifier("1.2.840.10045.4.3.2"));
  const body = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(randomBytes(16)),
    algorithm,
    name("loopback"),
    sequence(time(from), time(until)),
    name("127.0.0.1"),
    publicKey.export({ type: "spki", format: "der" }),
    explicit(
      3,
      sequence(
        extension("2.5.29.37", sequence(identifier(usage))),
        ...(address === ""
          ? []
          : [extension("2.5.29.17", sequence(value(0x87, Buffer.from(address.split(".").map(Number)))))]),
      ),
    ),
  );
  const der = sequence(
    body,
    algorithm,
    bits(sign("sha256", body, signer === "itself" ? privateKey : (signer ?? loopbackAuthority).key)),
  );
  const cert = `-----BEGIN CERTIFICATE-----\n${der
    .toString("base64")
    .match(/.{1,64}/g)
    ?.join("\n")}\n-----END CERTIFICATE-----\n`;
  createPublicKey(cert); // it can be read
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

const other = createAuthority("loopback");
/** No authority: its certificates are those of a server. */
const server = issue(loopbackAuthority, { subject: { name: "loopback" }, hosts: ["127.0.0.1"] });

/** By what is wrong with them. */
export const wrongCertificates: Readonly<Record<string, Certificate>> = {
  "another authority of the same name": issue(other, { subject: { name: "server" }, hosts: ["127.0.0.1"] }),
  "its own signature": certificate({}, "itself"),
  "the signature of a server's certificate": certificate({}, server),
  "another address": certificate({ address: "127.0.0.2" }),
  "no address, and ours as its name": certificate({ address: "" }),
  "an end in the past": certificate({ from: new Date(Date.now() - 2 * DAY), until: new Date(Date.now() - DAY) }),
  "a beginning in the future": certificate({ from: new Date(Date.now() + DAY), until: new Date(Date.now() + 2 * DAY) }),
  "the usage of a client": certificate({ usage: CLIENT }),
};

/** With nothing wrong, to show that it is not the way they are written. */
export const rightCertificate: Certificate = certificate({});
