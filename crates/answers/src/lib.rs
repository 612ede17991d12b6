//! What people answer: agreement, choices and forms. Pure: texts in, values and error messages out.

pub mod agreement;
pub mod form;
pub mod pick;
